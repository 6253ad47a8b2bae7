/*
 * Criterion starts libgit2, for differences that no test here asks it for, and that parses all CA
 * certificates of the machine: a quarter of what a short test costs, in each test's process.
 */
int git_libgit2_init(void);
int git_libgit2_shutdown(void);

int git_libgit2_init(void)
{
	return 1;
}

int git_libgit2_shutdown(void)
{
	return 0;
}
