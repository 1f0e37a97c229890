#pragma once
#include <spawn.h>

/// As `posix_spawn_file_actions_addchdir_np`, which Swift sees on no Linux.
int spawn_in_directory(posix_spawn_file_actions_t *actions, const char *directory);

/// Lets the program inherit no file from `first` on. On Darwin, `POSIX_SPAWN_CLOEXEC_DEFAULT` does that instead.
int spawn_without_files_from(posix_spawn_file_actions_t *actions, int first);
