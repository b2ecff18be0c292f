import {
  approvalModes,
  networkProfiles,
  sessionCommands,
  pluralText,
  type AgentOption,
  type ApprovalMode,
  type NetworkProfile,
  type SessionSummary,
} from '@belay/protocol';
import { askConfirm, askText, type Question } from '@/lib/ask';
import { steering } from '@/lib/steering-client';
import { attempt, toast } from '@/lib/toasts';

/**
 * An action on a whole session, offered by menus, the palette, the header, slash commands and
 * shortcuts.
 */
export interface SessionControl {
  readonly label: string;
  /** Whether it opens a dialog first; menus then append “…” to the label. */
  readonly opensDialog: boolean;
  /** The toast after success; none if the page already shows the result. */
  readonly done?: string;
  /** Reverts the action. */
  readonly undo?: Act;
  offered(session: Pick<SessionSummary, 'state' | 'archived'>): boolean;
  /** False if the user declined; synchronously true if no confirmation is needed. */
  confirm(sessions: readonly SessionSummary[]): boolean | Promise<boolean>;
  /** Runs the action. Does not ask for confirmation. */
  act(session: SessionSummary): Promise<unknown>;
}

type ConfirmQuestion = Omit<Question, 'answer' | 'label'>;
type Act = SessionControl['act'];

type Confirmed = 'stop' | 'remove';

/** The confirmation dialogs of commands with `asksFirst`. */
const questions: Record<Confirmed, (sessions: readonly SessionSummary[]) => ConfirmQuestion> = {
  stop: ([only, ...others]) =>
    others.length === 0
      ? {
          title: 'Stop this session?',
          text: 'Its running commands end. Its log and files are kept: a message or a restart continues it.',
          verb: 'Stop',
          danger: true,
        }
      : {
          title: `Stop ${pluralText(others.length + 1, 'session')}?`,
          text: 'Their logs and files are kept. Each can be restarted from its log.',
          lines: [only, ...others].flatMap((session) => session?.title ?? []),
          verb: 'Stop',
          danger: true,
        },
  remove: ([session]) => ({
    title: 'Delete this session?',
    text: `“${session?.title}” and its log, files and terminals are deleted. This cannot be undone.`,
    verb: 'Delete',
    danger: true,
  }),
};

/** A control that takes its label, availability and `asksFirst` from a session command. */
function control(
  name: 'pause' | 'interrupt' | 'resume' | 'restart' | Confirmed,
  act: Act,
  done?: string,
): SessionControl {
  const { label, offered, asksFirst } = sessionCommands[name];
  const question = name === 'stop' || name === 'remove' ? questions[name] : undefined;
  return {
    label,
    offered,
    opensDialog: asksFirst,
    ...(done && { done }),
    confirm: (sessions) => !question || askConfirm(question(sessions)),
    act,
  };
}

/** A control that changes the session’s settings. */
const changing = (
  label: string,
  act: Act,
  traits: Partial<Pick<SessionControl, 'opensDialog' | 'done' | 'offered' | 'undo'>> = {},
): SessionControl => ({
  label,
  offered: sessionCommands.change.offered,
  opensDialog: false,
  ...traits,
  confirm: () => true,
  act,
});

const isGoing = sessionCommands.stop.offered;

const approvals = (mode: ApprovalMode): SessionControl =>
  changing(approvalModes[mode].label, ({ id }) => steering.change(id, { approvals: mode }), {
    offered: isGoing,
    done: 'Approvals changed.',
  });

export const sessionControls = {
  pause: control('pause', ({ id }) => steering.pause(id), 'Pausing after this call.'),
  interrupt: control('interrupt', ({ id }) => steering.interrupt(id)),
  resume: control('resume', ({ id }) => steering.resume(id)),
  restart: control('restart', ({ id }) => steering.restart(id), 'Restarting from its log.'),
  stop: control('stop', ({ id }) => steering.stop(id)),
  remove: control('remove', ({ id }) => steering.remove(id)),
  rename: changing('Rename', rename, { opensDialog: true }),
  retag: changing('Tags', retag, { opensDialog: true }),
  archive: changing('Archive', archiving(true), {
    offered: ({ archived }) => !archived,
    done: 'Archived.',
    undo: archiving(false),
  }),
  unarchive: changing('Unarchive', archiving(false), {
    offered: ({ archived }) => archived,
    done: 'Unarchived.',
    undo: archiving(true),
  }),
  raiseLimits: changing('Double the limits and continue', raiseLimits, {
    offered: ({ state }) => state === 'limited',
  }),
} satisfies Record<string, SessionControl>;

/** Controls that change how the calls of a session are approved. */
export const approvalControls: Record<ApprovalMode, SessionControl> = {
  plan: approvals('plan'),
  safe: approvals('safe'),
  ask: approvals('ask'),
  delay: approvals('delay'),
  rules: approvals('rules'),
  auto: approvals('auto'),
};

export const archiveControl = ({ archived }: Pick<SessionSummary, 'archived'>): SessionControl =>
  archived ? sessionControls.unarchive : sessionControls.archive;

export const changeModel = (model: string, title: string): SessionControl =>
  changing(title, ({ id }) => steering.change(id, { model }), {
    offered: isGoing,
    done: 'The next step uses this model.',
  });

export const changeNetwork = (profile: NetworkProfile): SessionControl =>
  changing(
    networkProfiles[profile].label,
    ({ id }) => steering.change(id, { egress: { profile } }),
    { offered: isGoing, done: 'Network changed.' },
  );

/** Sets an option that the agent’s program offers. */
export const changeAgentOption = (
  { id: option, name }: Pick<AgentOption, 'id' | 'name'>,
  choice: AgentOption['choices'][number],
): SessionControl =>
  changing(
    choice.name,
    ({ id }) => steering.change(id, { agentOptions: { [option]: choice.value } }),
    { offered: isGoing, done: `${name}: ${choice.name}.` },
  );

/** Runs a control after its confirmation, if any. Failures become toasts. */
export const runControl = (control: SessionControl, session: SessionSummary | undefined): void =>
  attempt(async () => session && performControl(control, session));

/**
 * Like `runControl`, but throws on failure. A dialog opens synchronously within the event that
 * requests it, so that React runs the effects that listen for its keys at once instead of after the
 * next paint.
 */
export async function performControl(
  control: SessionControl,
  session: SessionSummary,
): Promise<void> {
  const confirmed = control.confirm([session]);
  if (confirmed !== true && !(await confirmed)) return;
  await control.act(session);
  const { done, undo } = control;
  if (done) toast(done, undo && { label: 'Undo', run: () => attempt(() => undo(session)) });
}

function archiving(archived: boolean): Act {
  return ({ id }) => steering.change(id, { archived });
}

async function rename({ id, title }: SessionSummary): Promise<void> {
  const chosen = await askText({ title: 'Rename', label: 'Name', value: title, verb: 'Rename' });
  if (chosen) await steering.change(id, { title: chosen });
}

async function retag({ id, tags }: SessionSummary): Promise<void> {
  const label = 'Tags (comma-separated)';
  const chosen = await askText({ title: 'Tags', label, value: tags.join(', '), verb: 'Save' });
  if (chosen === null) return;
  const list = chosen.split(',').map((tag) => tag.trim());
  await steering.change(id, { tags: [...new Set(list)].filter(Boolean) });
}

/** Doubles the session’s limits and restarts it. */
async function raiseLimits({ id, budgets }: SessionSummary): Promise<void> {
  const doubled = Object.fromEntries(
    Object.entries(budgets).map(([name, limit]) => [name, limit === null ? null : limit * 2]),
  );
  await steering.change(id, { budgets: doubled });
  await steering.restart(id);
}
