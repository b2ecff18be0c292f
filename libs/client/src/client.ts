import type {
  ApprovalAnswer,
  Check,
  EvaluationFacts,
  EvaluationSummary,
  EvaluationTrial,
  Event,
  Example,
  forkRequest,
  ModelChoice,
  NewEvaluationChanges,
  McpServer,
  McpServerChange,
  NewMcpServer,
  newMessage,
  NewRule,
  NewSession,
  ProviderChange,
  ProviderName,
  ProviderSetup,
  Role,
  Rule,
  RulePreview,
  rewindRequest,
  sessionChange,
  SessionDefaults,
  SessionDefaultsChange,
  SessionSummary,
} from '@belay/protocol';
import type { z } from 'zod';

/** A benchmark run with the ids of its tasks, in their order. */
export interface Evaluation {
  summary: EvaluationSummary;
  tasks: string[];
}

/** The newest state of trials; `seq` is the report up to which they are. */
export interface ReportedTrials {
  seq: number;
  trials: EvaluationTrial[];
}

/** The REST side of the server, typed. Every call rejects with `AppError`, rebuilt from the problem document. */
export interface BelayClient {
  sessions: {
    list(): Promise<SessionSummary[]>;
    get(id: string): Promise<SessionSummary>;
    create(session: NewSession): Promise<SessionSummary>;
    events(id: string, page?: { after?: number; limit?: number }): Promise<Event[]>;
    message(id: string, message: z.input<typeof newMessage>): Promise<void>;
    pause(id: string): Promise<void>;
    resume(id: string): Promise<void>;
    stop(id: string): Promise<void>;
    /** Starts an ended session again, from its log, in a fresh sandbox with its files. */
    restart(id: string): Promise<void>;
    /** Starts the sandbox of an ended session, if it is gone, so that its files can be read and changed. */
    wake(id: string): Promise<void>;
    change(id: string, change: z.input<typeof sessionChange>): Promise<SessionSummary>;
    remove(id: string): Promise<void>;
    fork(id: string, fork: z.input<typeof forkRequest>): Promise<SessionSummary>;
    rewind(
      id: string,
      rewind: z.input<typeof rewindRequest>,
    ): Promise<{ files: { path: string; status: string }[]; messages: number }>;
    /** A person's call of an operation. */
    call(id: string, operation: string, input: unknown): Promise<unknown>;
    answer(id: string, call: string, answer: ApprovalAnswer): Promise<void>;
    /** Bytes of a terminal from an offset on. */
    terminal(
      id: string,
      terminal: string,
      range?: { from?: number; to?: number },
    ): Promise<Uint8Array>;
    /** The session's changes as a patch that `git apply` takes. */
    patch(id: string): Promise<Uint8Array>;
    export(id: string, format: 'patch' | 'zip' | 'bundle' | 'tar'): Promise<Uint8Array>;
    blob(id: string, blob: string): Promise<Uint8Array>;
    search(query: string): Promise<{ session: string; seq: number; excerpt: string }[]>;
  };
  /** Benchmark runs on the board; their results are in the folder of whoever runs them. */
  evaluations: {
    list(): Promise<EvaluationSummary[]>;
    get(id: string): Promise<Evaluation>;
    /** Trials that changed after report `after`. */
    trials(id: string, page?: { after?: number }): Promise<ReportedTrials>;
    blob(id: string, blob: string): Promise<Uint8Array>;
    /** Begins to report a run, or goes on: answers the epoch to report with and what is known. */
    open(id: string, facts: EvaluationFacts): Promise<{ epoch: number; trials: EvaluationTrial[] }>;
    /** `conflict` when another process has opened the run since, `not_found` when it was removed. */
    report(id: string, changes: NewEvaluationChanges): Promise<void>;
    remove(id: string): Promise<void>;
  };
  /** Uploads a tar archive (with its .git, if any); answers the id to create a session with. */
  uploadWorkspace(tar: Uint8Array | ReadableStream<Uint8Array>): Promise<{ workspace: string }>;
  uploadBlob(bytes: Uint8Array, type: string): Promise<{ blob: string }>;
  /** Whose token this is: `person` may do everything, `viewer` may watch. */
  me(): Promise<{ role: Role | null }>;
  models(): Promise<ModelChoice[]>;
  /** One short call of a model, to see that it works. */
  tryModel(model: string): Promise<{ text: string; seconds: number }>;
  providers(): Promise<ProviderSetup[]>;
  /** Keys are written and never read: the answer says only whether one is there. */
  setProvider(name: ProviderName, change: ProviderChange): Promise<ProviderSetup[]>;
  settings: {
    /** What counts for all sessions to come. */
    read(): Promise<SessionDefaults>;
    change(change: SessionDefaultsChange): Promise<SessionDefaults>;
  };
  /** The MCP servers that agents may use. Secrets are written and never read. */
  mcp: {
    list(): Promise<McpServer[]>;
    create(server: NewMcpServer): Promise<McpServer>;
    change(name: string, change: McpServerChange): Promise<McpServer>;
    /** Connects anew; answers how that went. */
    test(name: string): Promise<McpServer>;
    remove(name: string): Promise<void>;
  };
  checks(): Promise<Check[]>;
  examples(): Promise<Example[]>;
  rules: {
    list(): Promise<Rule[]>;
    create(rule: NewRule): Promise<Rule>;
    preview(rule: NewRule): Promise<RulePreview>;
    remove(id: string): Promise<void>;
  };
}
