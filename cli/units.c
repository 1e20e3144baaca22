/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Numbers as people read them; knows no object and no terminal. */

#include "units.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

const char *units_real(Units buf, double v)
{
        (void)snprintf(buf, UNITS_MAX, "%.6g", v);
        return buf;
}

const char *units_link(Units buf, const PnReal *speed, const PnInt *width)
{
        char *end = buf;
        size_t room = UNITS_MAX;

        *buf = '\0';
        if (speed->state == PN_KNOWN) {
                int n = snprintf(end, room, "%.6g GT/s", speed->v);

                end += n;
                room -= (size_t)n;
        }
        if (width->state == PN_KNOWN)
                (void)snprintf(end, room, "%sx%" PRId64, end > buf ? " " : "", width->v);
        return buf;
}

const char *units_rate(Units buf, const PnLinkRate *rate)
{
        *buf = '\0';
        return rate ? units_link(buf, &rate->speed, &rate->width) : buf;
}

const char *units_gbs(Units buf, int64_t mbps)
{
        double gbs = (double)mbps / 8000;

        (void)snprintf(buf, UNITS_MAX, gbs < 0.995 ? "%.2f" : gbs < 99.5 ? "%.1f" : "%.0f", gbs);
        return buf;
}

const char *units_size(Units buf, int64_t bytes)
{
        static const char *const names[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
        double v = (double)bytes;
        unsigned i = 0;

        while (v >= 999.995 && i + 1 < PN_ELEMENTS(names)) {
                v /= 1000;
                i++;
        }
        (void)snprintf(buf, UNITS_MAX, i ? "%.2f %s" : "%.0f %s", v, names[i]);
        return buf;
}

const char *units_memory(Units buf, int64_t bytes)
{
        static const char *const names[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
        double v = (double)bytes;
        unsigned i = 0;

        while (v >= 1024 && i + 1 < PN_ELEMENTS(names)) {
                v /= 1024;
                i++;
        }
        (void)snprintf(buf, UNITS_MAX,
                       v >= 99.95 || v - (double)(int)v < 0.05 ? "%.0f %s" : "%.1f %s", v,
                       names[i]);
        return buf;
}

/* Reads "2021-08-14T12:04:31", then a fraction or not, then "Z". */
static bool parse_time(const char *s, struct tm *ret)
{
        const char *end = strptime(s, "%Y-%m-%dT%H:%M:%S", ret);

        if (!end)
                return false;
        if (*end == '.')
                end += 1 + strspn(end + 1, "0123456789");
        return strcmp(end, "Z") == 0;
}

const char *units_time(Units buf, const char *rfc3339)
{
        struct tm utc = {0}, then, today;
        time_t now = time(NULL), t;

        if (!parse_time(rfc3339, &utc)) {
                (void)snprintf(buf, UNITS_MAX, "%s", rfc3339);
                return buf;
        }
        t = timegm(&utc);
        if (!localtime_r(&t, &then) || !localtime_r(&now, &today) ||
            !strftime(buf, UNITS_MAX,
                      then.tm_year == today.tm_year && then.tm_yday == today.tm_yday
                          ? "%H:%M:%S"
                          : "%Y-%m-%d %H:%M:%S",
                      &then))
                (void)snprintf(buf, UNITS_MAX, "%s", rfc3339);
        return buf;
}

const char *units_date(Units buf, const char *rfc3339)
{
        struct tm utc = {0}, local;
        time_t t;

        (void)snprintf(buf, UNITS_MAX, "%s", rfc3339);
        if (!parse_time(rfc3339, &utc))
                return buf;
        t = timegm(&utc);
        if (!localtime_r(&t, &local) || !strftime(buf, UNITS_MAX, "%Y-%m-%d %H:%M", &local))
                (void)snprintf(buf, UNITS_MAX, "%s", rfc3339);
        return buf;
}

static void remove_all(char *s, const char *word)
{
        size_t n = strlen(word);
        char *found;

        while ((found = strcasestr(s, word)))
                memmove(found, found + n, strlen(found + n) + 1);
}

char *units_cpu(const char *model)
{
        static const char *const noise[] = {"(R)", "(TM)", "Processor", "AMD ", "Intel ", " CPU"};
        char *s = strdup(model), *cut, *to;

        if (!s)
                return NULL;
        for (size_t i = 0; i < PN_ELEMENTS(noise); i++)
                remove_all(s, noise[i]);
        cut = strchr(s, '@');
        if (cut)
                *cut = '\0';
        cut = strstr(s, "-Core");
        if (cut && cut[5] == ' ') {
                char *word = cut;

                while (word > s && word[-1] != ' ')
                        word--;
                if (word > s)
                        memmove(word, cut + 5, strlen(cut + 5) + 1);
        }
        to = s;
        for (const char *from = s; *from; from++)
                if (*from != ' ' || (to > s && to[-1] != ' '))
                        *to++ = *from;
        while (to > s && to[-1] == ' ')
                to--;
        *to = '\0';
        if (to > s)
                return s;
        free(s);
        return strdup(model);
}
