/* The suite on a real etcd. */
#include "tests/unit/store/suite.h"

#define X(name)                                                                                    \
	Test(store_etcd, name)                                                                     \
	{                                                                                          \
		struct bed bed;                                                                    \
                                                                                                   \
		bed_init(&bed, BACKEND_ETCD);                                                      \
		suite_##name(&bed);                                                                \
		bed_finish(&bed);                                                                  \
	}
SUITE_CASES(X)
#undef X
