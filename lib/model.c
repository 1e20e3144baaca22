/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Expands the field lists of model.h into tables, and does nothing else. */

#include "model.h"

#include "fields.h"

PN_TYPES(PN_DEFINE_TYPE)
