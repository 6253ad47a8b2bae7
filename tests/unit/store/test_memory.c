/* The suite on the memory store. */
#include "tests/unit/store/suite.h"

#define X(name)                                                                                    \
	Test(store_memory, name)                                                                   \
	{                                                                                          \
		struct bed bed;                                                                    \
                                                                                                   \
		bed_init(&bed, BACKEND_MEMORY);                                                    \
		suite_##name(&bed);                                                                \
		bed_finish(&bed);                                                                  \
	}
SUITE_CASES(X)
#undef X
