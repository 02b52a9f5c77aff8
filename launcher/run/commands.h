/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "launcher/command/command.h"

#include <stddef.h>

/* The command of this name, or NULL. Context: cli. */
const struct pie_command *pie_command_find(const char *name);
/* All commands in the order of the help. Context: cli. */
const struct pie_command *pie_command_all(size_t *ret_count);
