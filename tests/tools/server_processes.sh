#!/bin/sh
# SPDX-License-Identifier: PostgreSQL
# Processes of throwaway servers, for tests that source this.

# server_processes DIRECTORY... - process ids of postmasters and backends that work below one of them
server_processes() {
	for link in /proc/[0-9]*/cwd; do
		for place; do
			case $(readlink "$link" 2>/dev/null) in
			*"$place"/*) # within a chroot the kernel may put the way to it in front
				link=${link%/cwd}
				case $(readlink "$link/exe" 2>/dev/null) in
				*/postgres*) echo "${link#/proc/}" ;;
				esac
				break
				;;
			esac
		done
	done
}
