/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Moments as text and as seconds. */

#include "when.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#define LAST INT64_C(253402300799) /* the end of year 9999 */

/* `n` digits at *at. */
static int take_digits(const char **at, size_t n, int *ret)
{
        int v = 0;

        for (size_t i = 0; i < n; i++, (*at)++) {
                if (!isdigit((unsigned char)**at))
                        return -EINVAL;
                v = v * 10 + (**at - '0');
        }
        *ret = v;
        return 0;
}

static int take(const char **at, char c)
{
        if (**at != c)
                return -EINVAL;
        ++*at;
        return 0;
}

/* What is ahead of UTC, in minutes. */
static int take_offset(const char **at, int *ret)
{
        int hours, minutes, sign = **at == '-' ? -1 : 1;

        if (**at == 'Z' || **at == 'z') {
                ++*at;
                *ret = 0;
                return 0;
        }
        if (**at != '+' && **at != '-')
                return -EINVAL;
        ++*at;
        if (take_digits(at, 2, &hours) < 0 || take(at, ':') < 0 ||
            take_digits(at, 2, &minutes) < 0 || hours > 23 || minutes > 59)
                return -EINVAL;
        *ret = sign * (hours * 60 + minutes);
        return 0;
}

static int take_time(const char **at, struct tm *tm, int *ret_offset)
{
        if ((**at != 'T' && **at != 't' && **at != ' ') || !(*at)[0])
                return -EINVAL;
        ++*at;
        if (take_digits(at, 2, &tm->tm_hour) < 0 || take(at, ':') < 0 ||
            take_digits(at, 2, &tm->tm_min) < 0 || take(at, ':') < 0 ||
            take_digits(at, 2, &tm->tm_sec) < 0 || tm->tm_hour > 23 || tm->tm_min > 59 ||
            tm->tm_sec > 60)
                return -EINVAL;
        if (**at == '.') {
                do
                        ++*at;
                while (isdigit((unsigned char)**at));
        }
        return take_offset(at, ret_offset);
}

int pn_when_parse(const char *text, int64_t *ret)
{
        struct tm tm = {0}, back;
        const char *at = text;
        int year, month, offset = 0, day;
        time_t seconds;

        if (take_digits(&at, 4, &year) < 0 || take(&at, '-') < 0 ||
            take_digits(&at, 2, &month) < 0 || take(&at, '-') < 0 ||
            take_digits(&at, 2, &day) < 0 || year < 1970)
                return -EINVAL;
        tm.tm_year = year - 1900;
        tm.tm_mon = month - 1;
        tm.tm_mday = day;
        if (*at && take_time(&at, &tm, &offset) < 0)
                return -EINVAL;
        if (*at)
                return -EINVAL;
        seconds = timegm(&tm);
        /* timegm() takes the 31st of February for the 3rd of March. */
        if (!gmtime_r(&seconds, &back) || back.tm_mday != day || back.tm_mon != month - 1) {
                if (tm.tm_sec != 60)
                        return -EINVAL;
        }
        *ret = (int64_t)seconds - (int64_t)offset * 60;
        return 0;
}

static const char *format(PnWhen text, int64_t seconds, const char *how)
{
        time_t when = seconds < 0 ? 0 : (time_t)(seconds > LAST ? LAST : seconds);
        struct tm tm;

        if (!gmtime_r(&when, &tm) || strftime(text, sizeof(PnWhen), how, &tm) == 0)
                text[0] = '\0';
        return text;
}

const char *pn_when_format(PnWhen text, int64_t seconds)
{
        return format(text, seconds, "%Y-%m-%dT%H:%M:%SZ");
}

const char *pn_when_date(PnWhen text, int64_t seconds)
{
        return format(text, seconds, "%Y-%m-%d");
}
