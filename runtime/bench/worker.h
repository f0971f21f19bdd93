/* worker.h - devices are used in a process of their own, so that a kernel or a driver that crashes,
 * never ends, or costs its process the device fails one row, and the others go on.
 *
 * The worker is a fork of this program, made when something is first asked of it, and anew when it
 * has ended. Drivers are loaded in it alone: a driver does not outlive a fork. */
#ifndef WORKER_H
#define WORKER_H

#include "rows/job.h"

/* From here on device_count and its like tell of what the worker finds; of such a device only what
 * it is, memory and ceiling can be had here. limit: the seconds that a launch may take; this process
 * keeps the time, for one that hangs, or is stopped, cannot. in_process: there is no worker, and no
 * limit, for tools that do not follow a program into its forks, as debuggers. */
void worker_begin(double limit, bool in_process);

typedef enum worker_fate {
  WORKER_LIVES,
  WORKER_FAILED, /* it ended with the job: the kernel's fault, or its driver's */
  WORKER_LATE,   /* it did not end in time: the same */
  WORKER_KILLED, /* somebody else ended or stopped it, and then once more: no word on the kernel */
} worker_fate;

/* Runs a job on a device, in the worker; the job's own device is not heeded. Unless the worker lives
 * out holds nothing, and *why says how it ended; so too at an interrupt, which signals.h tells of. */
worker_fate worker_run(const device *on, const job *j, outcome *out, const char **why);

/* The kernels that a job's call launches on a device, as job_kernels says. */
int worker_kernels(const device *on, const job *j, device_kernel *to, const char **why);

/* Another process, whose memory lies elsewhere, where that costs next to nothing: no driver has to be loaded anew. */
void worker_renew(void);

void worker_end(void);

#endif
