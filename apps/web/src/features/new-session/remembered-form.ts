import type { SessionForm } from './session-form';

const storageKey = 'belay.new-session';

/** What was chosen last, but for the task, the files, and what the server has settings for. */
export function rememberedForm(): Partial<SessionForm> {
  try {
    return JSON.parse(localStorage.getItem(storageKey) ?? '{}') as Partial<SessionForm>;
  } catch {
    return {};
  }
}

export function rememberForm({
  tasks: _tasks,
  workspace: _workspace,
  own: _own,
  check: _check,
  runs: _runs,
  mcp: _mcp,
  actions: _actions,
  mounts: _mounts,
  ...rest
}: SessionForm): void {
  localStorage.setItem(storageKey, JSON.stringify(rest));
}
