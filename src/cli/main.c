/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/base.h"
int main(void)
{
	return 0;
}
