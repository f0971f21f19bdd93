//@ local head = use "../c/export_head.c"
//@ head.begin()

/* What a call returns. What is below 0 is an error of the driver's, less its sign (CUresult). */
enum {
  $UPPER$_OK,
  $UPPER$_NULL,      /* an operand that has elements is null */
  $UPPER$_SIZE,      /* no memory has such a size, or no kernel is for it */
  $UPPER$_WORKSPACE, /* the workspace is null, or its address no multiple of 64 */
  $UPPER$_DRIVER,    /* there is no libcuda.so.1, or an older one than CUDA 11.8's */
  $UPPER$_CONTEXT,   /* the thread has no context, or more were used than there is room for */
  $UPPER$_DEVICE,    /* no kernel of the file runs on this device */
};

/* The same in words. */
const char *$name$_status(int status);

/* Loads all code for the context that is current, as the first call would: ahead of a capture, or of what is timed. */
int $name$_load(void);
//@ head.finish()
