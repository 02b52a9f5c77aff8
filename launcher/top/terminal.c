/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/top/terminal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "storage/base/message.h"

#ifdef PIE_HAS_NCURSES

#define NCURSES_NOMACROS 1
#include <curses.h>
#include <dlfcn.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>

#include "launcher/text/text.h"
#include "launcher/top/state.h"
#include "profiler/base/clocks.h"

/* As in <term.h>, which also has macros of short names for all capabilities. */
int setupterm(const char *name, int fd, int *ret_error);

#define LIBRARY "libncursesw.so.6"
#define EACH_FUNCTION(X)                                                                                     \
    X(setupterm);                                                                                            \
    X(tigetstr);                                                                                             \
    X(newterm);                                                                                              \
    X(endwin);                                                                                               \
    X(delscreen);                                                                                            \
    X(cbreak);                                                                                               \
    X(noecho);                                                                                               \
    X(nonl);                                                                                                 \
    X(keypad);                                                                                               \
    X(nodelay);                                                                                              \
    X(curs_set);                                                                                             \
    X(set_escdelay);                                                                                         \
    X(has_colors);                                                                                           \
    X(start_color);                                                                                          \
    X(use_default_colors);                                                                                   \
    X(init_pair);                                                                                            \
    X(werase);                                                                                               \
    X(wmove);                                                                                                \
    X(waddnstr);                                                                                             \
    X(wattr_set);                                                                                            \
    X(wnoutrefresh);                                                                                         \
    X(doupdate);                                                                                             \
    X(wget_wch);                                                                                             \
    X(resizeterm);                                                                                           \
    X(clearok);

static struct {
    void *library;
    WINDOW **screen;
    SCREEN *terminal;
    struct pie_top_canvas canvas;
    sigset_t mask; /* while it waits */
#define MEMBER(name) __typeof__(name) *name
    EACH_FUNCTION(MEMBER)
} curses;

static volatile sig_atomic_t asked_signal, is_resized;
static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

static int load(char **ret_message) {
    curses.library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    bool is_whole = curses.library && (curses.screen = dlsym(curses.library, "stdscr"));
#define FIND(name) is_whole = is_whole && (curses.name = dlsym(curses.library, #name))
    EACH_FUNCTION(FIND)
    if (is_whole)
        return 0;
    return pie_message(-ENOSYS, ret_message, "top needs ncurses, and " LIBRARY " %s; --once prints one frame",
                       curses.library ? "lacks functions" : "cannot be loaded");
}

static int check_terminal(char **ret_message) {
    const char *name = getenv("TERM");
    int error;
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
        return pie_message(-ENOTTY, ret_message, "top needs a terminal; --once prints one frame as text");
    int r = load(ret_message);
    if (r < 0)
        return r;
    if (name && *name && curses.setupterm(NULL, STDOUT_FILENO, &error) == OK) {
        const char *move = curses.tigetstr("cup");
        if (move && move != (const char *)-1)
            return 0;
    }
    char *clean = pie_text_printable(name ? name : "");
    r = pie_message(
        -ENODEV, ret_message,
        "the terminal \"%s\" (TERM) is unknown, or cannot move its cursor; --once prints one frame",
        clean ? clean : "");
    free(clean);
    return r;
}

/* --- Signals: they come only while it waits for a key --- */

static void note_signal(int number) {
    if (number == SIGWINCH)
        is_resized = 1;
    else
        asked_signal = number;
}

/* Ours before ncurses looks: it takes those that nobody has. An ignored one stays ignored, as under nohup. */
static void take_signals(void) {
    struct sigaction action = {.sa_handler = note_signal}, before;
    sigset_t held;
    sigemptyset(&held);
    sigaddset(&held, SIGWINCH);
    sigaction(SIGWINCH, &action, NULL);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        if (sigaction(ends[i], NULL, &before) == 0 && before.sa_handler == SIG_IGN)
            continue;
        sigaction(ends[i], &action, NULL);
        sigaddset(&held, ends[i]);
    }
    sigprocmask(SIG_BLOCK, &held, &curses.mask);
}

int pie_top_terminal_signal(void) {
    return asked_signal;
}

/* --- The canvas --- */

static attr_t attributes[PIE_TOP_LOOKS] = {
    [PIE_TOP_BOLD] = WA_BOLD,   [PIE_TOP_DIM] = WA_DIM,
    [PIE_TOP_BAR] = WA_REVERSE, [PIE_TOP_CHOSEN] = WA_REVERSE | WA_BOLD,
    [PIE_TOP_HOT] = WA_BOLD,
};
static short pairs[PIE_TOP_LOOKS];

static void choose_colours(void) {
    static const struct {
        enum pie_top_look look;
        short text, ground;
        attr_t attributes;
    } colours[] = {
        {PIE_TOP_BAR, COLOR_BLACK, COLOR_GREEN, 0}, {PIE_TOP_CHOSEN, COLOR_BLACK, COLOR_CYAN, 0},
        {PIE_TOP_HOT, COLOR_RED, -1, WA_BOLD},      {PIE_TOP_WARM, COLOR_YELLOW, -1, 0},
        {PIE_TOP_GOOD, COLOR_GREEN, -1, 0},         {PIE_TOP_PYTHON, COLOR_BLUE, -1, WA_BOLD},
        {PIE_TOP_NATIVE, COLOR_MAGENTA, -1, 0},     {PIE_TOP_SYSTEM, COLOR_RED, -1, 0},
    };
    curses.canvas.is_colourful = pie_text_is_colourful(stdout) && curses.has_colors() &&
                                 curses.start_color() == OK && curses.use_default_colors() == OK;
    for (size_t i = 0; curses.canvas.is_colourful && i < sizeof colours / sizeof *colours; i++) {
        curses.init_pair((short)(i + 1), colours[i].text, colours[i].ground);
        pairs[colours[i].look] = (short)(i + 1);
        attributes[colours[i].look] = colours[i].attributes;
    }
}

static void put(struct pie_top_canvas *canvas, size_t line, size_t column, enum pie_top_look look,
                const char *text) {
    WINDOW *screen = *curses.screen;
    curses.wattr_set(screen, attributes[look], pairs[look], NULL);
    if (curses.wmove(screen, (int)line, (int)column) == OK)
        (void)curses.waddnstr(screen, text, -1);
}

static void measure(void) {
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_row == 0 || size.ws_col == 0)
        size = (struct winsize){.ws_row = 24, .ws_col = 80};
    if (size.ws_row == curses.canvas.lines && size.ws_col == curses.canvas.columns)
        return;
    curses.canvas.lines = size.ws_row;
    curses.canvas.columns = size.ws_col;
    curses.resizeterm(size.ws_row, size.ws_col);
    curses.clearok(*curses.screen, TRUE);
}

int pie_top_terminal_open(struct pie_top_canvas **ret_canvas, char **ret_message) {
    int r = check_terminal(ret_message);
    if (r < 0)
        return r;
    (void)pie_text_width("\xe2\x80\xa6"); /* loads the locale, which ncurses goes by */
    take_signals();
    curses.terminal = curses.newterm(NULL, stdout, stdin);
    if (!curses.terminal)
        return pie_message(-ENODEV, ret_message, "the terminal cannot be set up; --once prints one frame");
    curses.cbreak();
    curses.noecho();
    curses.nonl();
    curses.set_escdelay(25);
    curses.keypad(*curses.screen, TRUE);
    curses.nodelay(*curses.screen, TRUE);
    curses.curs_set(0);
    curses.canvas.put = put;
    choose_colours();
    *ret_canvas = &curses.canvas;
    return 0;
}

void pie_top_terminal_close(void) {
    curses.endwin();
    curses.delscreen(curses.terminal);
    sigprocmask(SIG_SETMASK, &curses.mask, NULL);
}

void pie_top_terminal_begin(void) {
    measure();
    curses.wattr_set(*curses.screen, 0, 0, NULL);
    curses.werase(*curses.screen);
}

void pie_top_terminal_show(void) {
    curses.wnoutrefresh(*curses.screen);
    curses.doupdate();
}

/* --- Keys --- */

static unsigned special(wint_t code) {
    static const struct {
        wint_t code;
        unsigned key;
    } keys[] = {{KEY_UP, PIE_TOP_KEY_UP},
                {KEY_DOWN, PIE_TOP_KEY_DOWN},
                {KEY_PPAGE, PIE_TOP_KEY_PAGE_UP},
                {KEY_NPAGE, PIE_TOP_KEY_PAGE_DOWN},
                {KEY_HOME, PIE_TOP_KEY_HOME},
                {KEY_END, PIE_TOP_KEY_END},
                {KEY_LEFT, PIE_TOP_KEY_LEFT},
                {KEY_RIGHT, PIE_TOP_KEY_RIGHT},
                {KEY_BTAB, PIE_TOP_KEY_BACK_TAB},
                {KEY_BACKSPACE, PIE_TOP_KEY_BACKSPACE},
                {KEY_ENTER, '\n'}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i].code == code)
            return keys[i].key;
    return code >= KEY_F(1) && code <= KEY_F(10) ? PIE_TOP_KEY_F1 + (unsigned)(code - KEY_F(1))
                                                 : PIE_TOP_KEY_NONE;
}

/* What has been typed and not read, or PIE_TOP_KEY_NONE. */
static bool read_key(unsigned *ret_key) {
    wint_t code;
    int kind = curses.wget_wch(*curses.screen, &code);
    *ret_key = kind == KEY_CODE_YES ? special(code) : kind == OK ? (unsigned)code : PIE_TOP_KEY_NONE;
    return kind != ERR;
}

unsigned pie_top_terminal_key(double wait_s) {
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    struct timespec wait = {(time_t)wait_s, (long)((wait_s - (double)(time_t)wait_s) * PIE_NS_PER_S)};
    unsigned key;
    if (read_key(&key))
        return key;
    int r = ppoll(&input, 1, wait_s < 0 ? NULL : &wait, &curses.mask);
    if (r > 0 && !read_key(&key) && (input.revents & (POLLHUP | POLLERR | POLLNVAL)))
        asked_signal = SIGHUP;
    return r > 0 ? key : PIE_TOP_KEY_NONE;
}

#else /* built without ncurses */

int pie_top_terminal_open(struct pie_top_canvas **ret_canvas, char **ret_message) {
    return pie_message(-ENOSYS, ret_message,
                       "this pieprof was built without ncurses: top has only --once, which prints one frame");
}

void pie_top_terminal_close(void) {}

void pie_top_terminal_begin(void) {}

void pie_top_terminal_show(void) {}

unsigned pie_top_terminal_key(double wait_s) {
    return 0;
}

int pie_top_terminal_signal(void) {
    return 0;
}

#endif
