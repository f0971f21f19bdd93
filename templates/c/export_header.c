//@ local head = use "export_head.c"
//@ head.begin()

/* What a call returns. */
enum {
  $UPPER$_OK,
  $UPPER$_NULL,      /* an operand that has elements is null */
  $UPPER$_SIZE,      /* no memory has such a size */
  $UPPER$_WORKSPACE, /* the workspace is null, or its address no multiple of 64 */
  $UPPER$_PROCESSOR, /* no kernel of the file runs on this processor */
};

/* The same in words. */
const char *$name$_status(int status);
//@ head.finish()
