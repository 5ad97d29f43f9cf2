a.sv
+incdir+lib+.
-I lib
// b
/* c */ b.svh
