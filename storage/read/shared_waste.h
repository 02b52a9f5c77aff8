/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* statements/shared_waste.sql: common table expressions that say what wasteful lines waste together. They stand behind
 * "WITH wasteful AS MATERIALIZED (...)," of a statement with the parameter :run. Context: cli, launcher (at exit). */
extern const char pie_shared_waste_sql[];
