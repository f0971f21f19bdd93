/* made_of.h - what this program was made of, as gen/made_of.sh writes it at build time. Null where it is not known. */
#ifndef MADE_OF_H
#define MADE_OF_H

extern const char *const made_of_commit;      /* Git's name of it */
extern const char *const made_of_commit_date; /* in UTC, as 2026-11-26T18:30:00Z */
extern const char *const made_of_kernel_flags;
extern const char *const made_of_nvcc_flags;
extern const char *const made_of_specs; /* a hash of all of them */
extern const char *const made_of_templates;

#endif
