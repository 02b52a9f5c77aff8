/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "launcher/answers/profile.h"
#include "launcher/answers/running.h"
#include "launcher/command/command.h"
#include "launcher/page/browser.h"
#include "launcher/page/page_file.h"
#include "launcher/serve/http.h"
#include "launcher/serve/stop.h"
#include "launcher/text/messages.h"
#include "launcher/text/text.h"
#include "storage/page/page.h"
#include "storage/read/reader.h"

/* The same page as `report --html`, whole, and as new as the file is. */

struct serve {
    struct pie_site site;
    unsigned port;
    bool is_open_wanted;
};

static int parse_port(const char *text, unsigned *ret_port) {
    char *end;
    unsigned long port = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || port > 65535)
        return pie_command_bad_words("%s is not a port: 0 to 65535", text);
    *ret_port = (unsigned)port;
    return 0;
}

static int parse_options(int argc, char **argv, struct serve *serve, const char **ret_path) {
    static const struct option names[] = {
        {"port", required_argument, NULL, 'P'},
        {"open", no_argument, NULL, 'o'},
        {"run", required_argument, NULL, 'r'},
        {"process", required_argument, NULL, 'p'},
        {0},
    };
    opterr = 0;
    optind = 0;
    for (int option; (option = getopt_long(argc, argv, "", names, NULL)) != -1;) {
        if (option == 'P' && parse_port(optarg, &serve->port) != 0)
            return PIE_PROFILE_USAGE;
        else if (option == 'o')
            serve->is_open_wanted = true;
        else if (option == 'r' && pie_profile_parse_run(optarg, &serve->site.run) < 0)
            return PIE_PROFILE_USAGE;
        else if (option == 'p' && pie_profile_parse_process(optarg, &serve->site.process) < 0)
            return PIE_PROFILE_USAGE;
        else if (option == '?')
            return pie_command_bad_option(argc, argv);
    }
    if (argc - optind > 1)
        return pie_command_bad_words("one file at a time");
    if (argc > optind)
        *ret_path = argv[optind];
    return 0;
}

/* The run and the process are there, and stay the same when the file gets another run. */
static int choose(struct pie_site *site) {
    char *message = NULL;
    struct pie_reader *reader = pie_profile_open(site->profile);
    if (!reader)
        return PIE_PROFILE_FAILED;
    int r = pie_reader_get_run(reader, site->run, &site->run, &message);
    if (r == 0 && site->process)
        r = pie_reader_cut(reader, site->run, site->process, &message);
    pie_reader_close(reader);
    return r < 0 ? pie_profile_complain(message) : 0;
}

static int complain(const struct serve *serve, int error) {
    if (error == -EADDRINUSE)
        pie_message_error("serve: port %u is in use; take another one, or none: then a free one is found",
                          serve->port);
    else if (error == -EACCES)
        pie_message_error("serve: port %u is not for everyone; take one from 1024 on, or none: then a free "
                          "one is found",
                          serve->port);
    else if (error == -ENOSYS)
        pie_message_error("serve: this pieprof was built without libmicrohttpd; report --html writes the "
                          "page into a file");
    else if (error == -ELIBACC)
        pie_message_error("serve: libmicrohttpd is not installed; install libmicrohttpd12 "
                          "(libmicrohttpd12t64), or take report --html");
    else if (error == -EINVAL || error == -ENOMEM)
        pie_message_error("serve: %s",
                          error == -ENOMEM ? "out of memory" : "the page of this pieprof has no policy");
    else
        pie_message_error("serve: cannot listen on loopback: %s", strerror(-error));
    return PIE_PROFILE_FAILED;
}

/* In a process of its own, as a browser may take its time. What ends this command does not end that, and that does not
 * keep the port. */
static void show(const char *address) {
    pid_t pid = fork();
    if (pid != 0)
        return;
    setsid();
    syscall(SYS_close_range, STDERR_FILENO + 1, ~0u, 0); /* closefrom() came with glibc 2.34 */
    if (pie_browser_open(address) < 0)
        pie_message_warning("no browser could be started ($BROWSER, xdg-open); open the address yourself");
    _exit(0);
}

static int run(struct serve *serve, struct pie_http *http) {
    char address[128], *clean = pie_text_printable(serve->site.profile);
    snprintf(address, sizeof address, "http://127.0.0.1:%u/?token=%s", serve->site.gate.port,
             serve->site.gate.token);
    if (serve->is_open_wanted)
        show(address);
    int stop = pie_stop_init();
    printf("%s is served at %s until Ctrl-C\n", clean ? clean : "the profile", address);
    fflush(stdout);
    free(clean);
    int r = stop < 0 ? stop : pie_http_run(http, stop);
    if (r < 0)
        pie_message_error("serve: cannot go on: %s", strerror(-r));
    return r < 0 ? PIE_PROFILE_FAILED : 0;
}

static int serve_profile(struct serve *serve) {
    struct pie_http *http = NULL;
    unsigned port = 0;
    int r = pie_policy_init(&serve->site.policy, &pie_page_built_in);
    if (r == 0)
        r = pie_http_open(serve->port, &serve->site, &http, &port);
    if (r == 0)
        r = pie_gate_init(&serve->site.gate, port);
    int status = r < 0 ? complain(serve, r) : run(serve, http);
    pie_http_close(http);
    pie_policy_finish(&serve->site.policy);
    return status;
}

int pie_cmd_serve(int argc, char **argv) {
    struct serve serve = {0};
    const char *path = PIE_PROFILE_DEFAULT;
    pie_text_set_locale();
    int status = parse_options(argc, argv, &serve, &path);
    if (status == 0)
        status = pie_page_file_check("serve");
    if (status != 0)
        return status;
    char *profile = pie_running_find("serve", path);
    if (!profile)
        return PIE_PROFILE_FAILED;
    serve.site.profile = profile;
    status = choose(&serve.site);
    if (status == 0)
        status = serve_profile(&serve);
    free(profile);
    return status;
}
