/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Which installed distribution ("PyYAML") a file of site-packages belongs to, from the *.dist-info and *.egg-info
 * folders beside it, read once for each site-packages folder. Context: drain. */

struct pie_distributions;

/* Returns 0 or -ENOMEM. */
int pie_distributions_create(struct pie_distributions **ret_distributions);
void pie_distributions_destroy(struct pie_distributions *distributions);

/* The distribution of the file `rest` ("yaml/loader.py") in the folder `base` (".../site-packages"): its name as its
 * metadata spell it and its version (NULL: unknown). Where none claims the file, the name is that of the top-level
 * package. Strings live as long as `distributions`. Returns 0 or -ENOMEM. */
int pie_distributions_find(struct pie_distributions *distributions, const char *base, const char *rest,
                           const char **ret_name, const char **ret_version);
