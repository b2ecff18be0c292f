/** Replaces programs that would wait for a key, a window or a choice by ones that return by themselves. */
const calm = {
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  MANPAGER: 'cat',
  SYSTEMD_PAGER: 'cat',
  GIT_EDITOR: 'true',
  EDITOR: 'true',
  VISUAL: 'true',
  DEBIAN_FRONTEND: 'noninteractive',
};

/** The agent's own connection, and leftovers of its start. */
const own = ['BELAY_CONNECTION', 'BELAY_TOKEN', 'ENV', 'BASH_ENV'];

/** The environment of shells, made from the agent's. */
export function terminalEnvironment(
  agent: Record<string, string | undefined>,
): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries({ LANG: 'C.UTF-8', ...agent, ...calm })) {
    if (value !== undefined && !own.includes(name)) env[name] = value;
  }
  return env;
}
