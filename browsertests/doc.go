// Package browsertests tests the page in a real browser. It is a module of its own, so that the driver of the browser never
// reaches those who use the program.
//
//	make model && go test -tags webmodel ./...
//
// The tests need chromium. Without it they are skipped with a loud message, and fail where CI is set. The screenshots of the
// documentation are written when SHMOO_SCREENSHOTS is set.
package browsertests
