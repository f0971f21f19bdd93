/* worker.h - devices are used in a process of their own, so that a kernel or a driver that crashes,
 * never ends, or costs its process the device fails one row, and the others go on.
 *
 * The worker is a fork of this program, made when something is first asked of it, and anew when it
 * has ended. Drivers are loaded in it alone: a driver does not outlive a fork. */
#ifndef WORKER_H
#define WORKER_H

#include "job.h"

/* From here on device_count and its like tell of what the worker finds; of such a device only what
 * it is, memory and ceiling can be had here. limit: the seconds that a launch may take. in_process:
 * there is no worker, and no limit, for tools that look into a process and not into its forks. */
void worker_begin(double limit, bool in_process);

/* Runs a job on a device, in the worker; the job's own device is not heeded. Null, or why the worker ended with it; out then holds nothing. Also at
 * an interrupt, which signals.h tells of. */
const char *worker_run(const device *on, const job *j, outcome *out);

void worker_end(void);

#endif
