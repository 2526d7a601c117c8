package sketch

func (c *compiler) asm(s *asmStmt) stmtFn {
	c.fail(s.span, "sketch/asm", "inline assembly is not read yet")
	return nil
}
