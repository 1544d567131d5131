/* SPDX-License-Identifier: MIT */
#ifndef STORE_H
#define STORE_H

void *store_map(const char *path, unsigned long bytes);
void store_forget(void *at, unsigned long bytes);

#endif
