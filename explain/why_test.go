package explain

import ("testing";"fmt";"shmoo/arch";"shmoo/smem")
func TestTry(t *testing.T){
 u:=arch.MustLookup("sm_90").Unit
 f:=func(op smem.Op,w int,addr func(l int)int){
  r:=smem.Request{Op:op,Width:w,Active:u.FullMask()}
  for l:=range 32{r.Addr=append(r.Addr,uint32(addr(l)))}
  fmt.Println(Why(u,&r))
 }
 f(smem.Load,4,func(l int)int{return l*128})
 f(smem.Load,4,func(l int)int{return l*132})
 f(smem.Load,4,func(l int)int{return l*32})
 f(smem.Load,4,func(l int)int{return l%16*64+l/16*4})
 f(smem.Load,4,func(l int)int{return l*4})
 f(smem.Load,1,func(l int)int{return l*32})
 f(smem.Load,1,func(l int)int{return 5})
 f(smem.Load,16,func(l int)int{return l*256})
 f(smem.Store,16,func(l int)int{return l*16})
 f(smem.Load,16,func(l int)int{return l/2*16})
 f(smem.Load,8,func(l int)int{return l/2*128})
 f(smem.Atomic,4,func(l int)int{return 128})
 f(smem.CompareSwap,4,func(l int)int{return l/8*8})
 f(smem.LoadMatrix,16,func(l int)int{return l*128})
 f(smem.LoadMatrix,16,func(l int)int{return l*144})
 f(smem.Load,4,func(l int)int{return (l*l*37)%1000*4})
 f(smem.Load,16,func(l int)int{return l*8})
}
