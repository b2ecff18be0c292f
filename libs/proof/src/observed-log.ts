import { hash } from 'node:crypto';
import {
  budgets,
  eventArgs,
  eventSource,
  mostInStatement,
  noUse,
  useAfter,
  wallSeconds,
  type BudgetUse,
  type Decider,
  type EventAction,
  type EventArgs,
  type LogObservations,
  type StoredLogRecord,
} from '@belay/protocol';

type Row = Pick<StoredLogRecord, 'seq' | 'time' | 'source' | 'action' | 'args' | 'call' | 'epoch'>;
type Decision = LogObservations['approvals']['decisions'][number];

interface Gathered {
  agentRows: number;
  serverRows: number;
  origin: LogObservations['origin'];
  start: EventArgs<'start'> | undefined;
  mode: string;
  profile: string;
  machine: string | null;
  use: BudgetUse;
  /** When the last of these rows was written. */
  last: string;
  models: Map<string, { calls: number; input: number; output: number; dollars: number | null }>;
  asked: Map<string, { operation: string; subject: string }>;
  decisions: Decision[];
  hosts: Set<string>;
  counts: { asked: number; approved: number; rejected: number; allowed: number; refused: number };
}

/**
 * Gathers what a log says about its session, row by row: the server does, for a statement, and whoever verifies that
 * does it again. Only rows count that no agent wrote, and none that a fork or an import copied: in these, an agent’s rows
 * are not told apart any more.
 */
export class ObservedLog {
  #gathered = nothing();

  add(row: Row): void {
    if (row.epoch !== null) {
      this.#gathered.agentRows += 1;
      return;
    }
    const fork = argsOf(row, 'fork');
    if (fork || argsOf(row, 'imported'))
      this.#gathered = {
        ...nothing(),
        origin: { session: fork?.session ?? null, seq: row.seq - 1 },
      };
    this.#gathered.serverRows += 1;
    addSettings(this.#gathered, row);
    addUse(this.#gathered, row);
    addUsage(this.#gathered, row);
    addApproval(this.#gathered, row);
    addConnection(this.#gathered, row);
  }

  get result(): LogObservations {
    const { agentRows, serverRows, origin, start, mode, profile, counts } = this.#gathered;
    const { models, decisions, hosts } = this.#gathered;
    const { asked, approved, rejected, allowed, refused } = counts;
    const { name, version } = start?.agent ?? { name: 'belay', version: null };
    const used = [...models].toSorted(([a], [b]) => (a < b ? -1 : 1)).slice(0, mostInStatement);
    return {
      agentRows,
      serverRows,
      origin,
      task: { sha256: sha256Of(start?.task ?? '') },
      agent: {
        name,
        version,
        image: start?.image ?? null,
        profile: start?.sandbox ?? '',
        machine: this.#gathered.machine,
      },
      budgets: budgetsOf(this.#gathered),
      models: used.map(([model, { calls, input, output, dollars }]) => ({
        name: model,
        calls,
        inputTokens: input,
        outputTokens: output,
        microdollars: dollars === null ? null : Math.round(dollars * 1e6),
      })),
      approvals: { mode, asked, approved, rejected, decisions: decisions.slice(-mostInStatement) },
      egress: {
        profile,
        hosts: [...hosts].toSorted().slice(0, mostInStatement),
        allowed,
        refused,
      },
    };
  }
}

const nothing = (): Gathered => ({
  agentRows: 0,
  serverRows: 0,
  origin: null,
  start: undefined,
  mode: '',
  profile: '',
  machine: null,
  use: { budgets: budgets.parse({}), ...noUse },
  last: '',
  models: new Map(),
  asked: new Map(),
  decisions: [],
  hosts: new Set(),
  counts: { asked: 0, approved: 0, rejected: 0, allowed: 0, refused: 0 },
});

function addSettings(gathered: Gathered, row: Row): void {
  const start = argsOf(row, 'start');
  if (start) {
    gathered.start = start;
    gathered.mode = start.approvals;
    gathered.profile = start.egress.profile;
    gathered.machine = start.machine?.name ?? null;
  }
  const placed = argsOf(row, 'placed');
  if (placed) gathered.machine = placed.machine?.name ?? null;
  const change = argsOf(row, 'change');
  gathered.mode = change?.approvals ?? gathered.mode;
  gathered.profile = change?.egress?.profile ?? gathered.profile;
}

/** Actions that budgets depend on. */
const counted = ['start', 'change', 'fork', 'imported', 'usage', 'state'] as const;

function addUse(gathered: Gathered, row: Row): void {
  const { seq, time, action, source } = row;
  gathered.last = time;
  const args = counted.map((one) => argsOf(row, one)).find((one) => one !== undefined);
  if (!args) return;
  const event = { seq, time, action, source: eventSource.parse(source), args, message: '' };
  gathered.use = useAfter(gathered.use, event);
}

function budgetsOf({ use, last }: Gathered): LogObservations['budgets'] {
  const { steps, tokens, dollars, seconds } = use.budgets;
  const limited = (limit: number | null, used: number, unit = 1) => ({
    limit: limit === null ? null : Math.round(limit * unit),
    used: Math.round(used * unit),
  });
  return {
    steps: limited(steps, use.steps),
    tokens: limited(tokens, use.tokens),
    microdollars: limited(dollars, use.dollars, 1e6),
    seconds: limited(seconds, wallSeconds(use.wallTime, last)),
  };
}

/** A text that the server drafts for the user is not a call of the agent. */
function addUsage({ models }: Gathered, row: Row): void {
  const usage = argsOf(row, 'usage');
  if (!usage || usage.purpose === 'draft') return;
  const before = models.get(usage.model) ?? { calls: 0, input: 0, output: 0, dollars: 0 };
  const { dollars } = before;
  models.set(usage.model, {
    calls: before.calls + 1,
    input: before.input + usage.inputTokens,
    output: before.output + usage.outputTokens,
    dollars: dollars === null || usage.dollars === null ? null : dollars + usage.dollars,
  });
}

function addApproval({ asked, decisions, counts }: Gathered, row: Row): void {
  const question = argsOf(row, 'approval');
  if (question) {
    counts.asked += 1;
    asked.set(question.id, { operation: question.operation, subject: question.subject });
  }
  const approved = argsOf(row, 'approve');
  const decided = approved ?? argsOf(row, 'reject');
  if (!decided || row.call === null) return;
  const { operation = '', subject = '' } = asked.get(row.call) ?? {};
  const verdict = approved ? 'approved' : 'rejected';
  counts[verdict] += 1;
  const rule = decided.by?.kind === 'rule' ? decided.by.rule : null;
  const by = whoDecided(decided.by) ?? row.source;
  const what = { call: row.call, operation, subject: { sha256: sha256Of(subject) } };
  decisions.push({ ...what, verdict, by, rule, at: row.time });
}

function addConnection({ hosts, counts }: Gathered, row: Row): void {
  const connection = argsOf(row, 'egress');
  if (connection?.verdict === 'refused') counts.refused += 1;
  if (connection?.verdict !== 'allowed') return;
  counts.allowed += 1;
  hosts.add(`${connection.host}:${connection.port}`);
}

function whoDecided(by: Decider | undefined): string | undefined {
  if (by?.kind === 'caller') return by.id;
  return by?.kind === 'mode' ? `mode:${by.mode}` : by?.kind;
}

/** The args of a row of this action; undefined for other rows, and for those that cannot be read. */
function argsOf<A extends EventAction>(row: Row, action: A): EventArgs<A> | undefined {
  if (row.action !== action) return undefined;
  try {
    return eventArgs[action].safeParse(JSON.parse(row.args)).data as EventArgs<A> | undefined;
  } catch {
    return undefined;
  }
}

const sha256Of = (text: string): string => hash('sha256', text, 'hex');
