import type { SessionForm } from './session-form';

const storageKey = 'belay.new-session';

/** The last form, without fields that belong to one task or come from the server’s settings. */
export function rememberedForm(): Partial<SessionForm> {
  try {
    return JSON.parse(localStorage.getItem(storageKey) ?? '{}') as Partial<SessionForm>;
  } catch {
    return {};
  }
}

export function rememberForm({
  tasks: _tasks,
  pictures: _pictures,
  workspace: _workspace,
  own: _own,
  check: _check,
  runs: _runs,
  others: _others,
  mcp: _mcp,
  actions: _actions,
  mounts: _mounts,
  ...rest
}: SessionForm): void {
  localStorage.setItem(storageKey, JSON.stringify(rest));
}
