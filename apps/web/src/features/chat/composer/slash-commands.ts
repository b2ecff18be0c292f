import type { SessionSummary } from '@belay/protocol';
import { askFork } from '@/features/session-controls/fork-request';
import {
  approvalControls,
  performControl,
  sessionControls,
  type SessionControl,
} from '@/features/session-controls/session-controls';
import { summaryNow } from '@/lib/summaries';
import { client } from '@/lib/server';
import { toast } from '@/lib/toasts';

interface SlashCommand {
  title: string;
  run(session: SessionSummary, rest: string): Promise<unknown>;
}

const steers = (title: string, control: SessionControl): SlashCommand => ({
  title,
  run: (session) => performControl(control, session),
});

const { pause, resume, stop, restart } = sessionControls;
const { plan, safe, ask, delay, rules, auto } = approvalControls;

/** The slash commands, by name without `/`. */
export const slashCommands: Record<string, SlashCommand> = {
  pause: steers('Pause after this call', pause),
  resume: steers('Resume the session', resume),
  stop: steers('Stop the session', stop),
  restart: steers('Restart from the log', restart),
  fork: {
    title: 'Fork into a new session',
    run: async (session) => askFork(session),
  },
  pin: {
    title: 'Send a message that is never compacted',
    run: ({ id }, rest) => client.sessions.message(id, { text: rest, pinned: true }),
  },
  plan: steers(plan.label, plan),
  safe: steers(safe.label, safe),
  ask: steers(ask.label, ask),
  delay: steers(delay.label, delay),
  rules: steers(rules.label, rules),
  auto: steers(auto.label, auto),
  trust: {
    title: 'Trust AGENTS.md',
    async run({ id }) {
      await client.sessions.call(id, 'workspace.trust', {});
      toast('AGENTS.md is trusted.');
    },
  },
};

/** Runs a command such as `/pause`; false if the text is a message instead. */
export async function runSlashCommand(id: string, text: string): Promise<boolean> {
  const [, name = '', rest = ''] = /^\/([a-z]+)(?:\s+([\s\S]*))?$/.exec(text) ?? [];
  const command = Object.hasOwn(slashCommands, name) ? slashCommands[name] : undefined;
  const session = summaryNow(id);
  if (!command || !session) return false;
  await command.run(session, rest);
  return true;
}
