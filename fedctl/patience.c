#include "fedctl/patience.h"

#include "base/mem.h"

#define TELL_AFTER_MS 2000
#define SILENCE_MS    4000

static void on_silence(void *arg)
{
	const struct patience *p = arg;
	auto_xfree char *text = NULL;

	if (p->told_why)
		return;
	text = xasprintf("the federator at %s has not answered yet; still waiting",
			 p->session->config.server);
	say_warning(text);
}

void patience_begin(struct patience *p, const struct session *s)
{
	*p = (struct patience){.session = s, .since_ms = env_mono_ms(s->env)};
	p->timer = timer_create_in(s->env, on_silence, p);
	timer_start(p->timer, SILENCE_MS);
}

static int64_t waited_ms(const struct patience *p)
{
	return env_mono_ms(p->session->env) - p->since_ms;
}

void patience_hear(struct patience *p, const struct error *why)
{
	auto_xfree char *text = NULL;

	if (p->told_why || waited_ms(p) < TELL_AFTER_MS)
		return;
	p->told_why = true;
	text = xasprintf("the federator is not able to answer yet: %s", why->text);
	say_warning(text);
}

void patience_end(struct patience *p)
{
	timer_destroy(take_ptr(p->timer));
}
