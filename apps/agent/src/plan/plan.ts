import {
  AppError,
  newEvent,
  planProgress,
  type FileConflict,
  type Handlers,
  type dialogueOperations,
  type reportOperations,
} from '@belay/protocol';
import type { CallContext } from '../call-context.js';
import type { EventWriter } from '../event-writer.js';
import { load, replaceFile } from '../files/file-bytes.js';
import { versionOf } from '../files/version-of.js';
import { WorkspaceFolder, type WorkspacePath } from '../files/workspace-folder.js';

type PlanOperations = Pick<typeof dialogueOperations, 'plan.update' | 'think'> &
  typeof reportOperations;

/** The maximum length of a plan in its event and in a refusal, in characters. */
const mostShown = 100_000;
const mostQuoted = 8_000;
/** Larger files are not read as plans, in bytes. */
const largestFile = 1_000_000;

export interface PlanOptions {
  writer: EventWriter;
  workspace: string;
  /** Records a call’s changes at these paths. */
  commit(call: { id: string; message: string; paths: readonly string[] }): Promise<void>;
}

/**
 * The plan that the user sees, and the agent’s thoughts and reports, which its calls record. A session may keep its plan in a Markdown file of the
 * workspace.
 */
export interface Plan {
  readonly handlers: Handlers<PlanOperations, CallContext>;
  /** Starts with the plan’s file, and the plan in the log. */
  begin(file: string | null, plan: string | null): Promise<void>;
  /** Reads the file after anyone may have changed it; `id` is the preceding call. Never rejects. */
  check(id?: string): Promise<void>;
}

export const createPlan = (options: PlanOptions): Plan => new FilePlan(options);

class FilePlan implements Plan {
  readonly #options: PlanOptions;
  #file: string | null = null;
  #last: string | null = null;

  constructor(options: PlanOptions) {
    this.#options = options;
  }

  readonly handlers: Handlers<PlanOperations, CallContext> = {
    'plan.update': async ({ markdown }, call) => {
      const kept = this.#file === null ? {} : await this.#write(this.#file, markdown, call);
      this.#append(markdown, call.id);
      return { ...planProgress(markdown), ...kept };
    },
    think: async () => ({}),
    report: async () => ({}),
  };

  async begin(file: string | null, plan: string | null): Promise<void> {
    this.#file = file;
    this.#last = plan;
    await this.check();
  }

  async check(id?: string): Promise<void> {
    const file = this.#file;
    if (file === null) return;
    try {
      const bytes = await this.#reach(file, async (place) => (await load(place))?.bytes ?? null);
      if (!bytes || bytes.length > largestFile) return;
      const markdown = bytes.toString('utf8').slice(0, mostShown).toWellFormed();
      if (markdown !== this.#last) this.#append(markdown, id);
    } catch {
      // Without a readable file, the plan stays the same.
    }
  }

  async #write(path: string, markdown: string, { id, known }: CallContext) {
    const bytes = Buffer.from(markdown);
    const written = await this.#reach(path, async (place) => {
      const before = await load(place);
      if (before && before.bytes.length > 0 && known) {
        const version = versionOf(before.bytes);
        if (known.get(place.path)?.version !== version)
          throw changed(place, before.bytes.toString('utf8'), version);
      }
      await replaceFile(place, bytes, before?.mode);
      return place.path;
    });
    await this.#options.commit({ id, message: `plan.update ${path}`, paths: [path] });
    return { path: written, version: versionOf(bytes) };
  }

  #reach<T>(path: string, use: (place: WorkspacePath) => Promise<T>): Promise<T> {
    return new WorkspaceFolder(this.#options.workspace).reach(path, use, { make: true });
  }

  #append(markdown: string, id?: string): void {
    this.#last = markdown;
    const { steps, done } = planProgress(markdown);
    const message = steps > 0 ? `The plan: ${done} of ${steps} steps done` : 'The plan changed';
    const args = { markdown, ...(this.#file !== null && { file: this.#file }) };
    this.#options.writer.append(newEvent('agent', 'plan', { args, message, ...(id && { id }) }));
  }
}

/** Protects a plan that the writer has not seen: the error shows it, and it then counts as seen. */
function changed({ path, given }: WorkspacePath, now: string, version: string): AppError {
  const details: FileConflict = { path, version, shown: now.length <= mostQuoted };
  const rest = details.shown ? '' : '\n… and more: read it first.';
  return new AppError(
    'conflict',
    `${given} holds the plan and was changed meanwhile, so nothing was written. This is its text now; call again with what fits it:\n${now.slice(0, mostQuoted).toWellFormed()}${rest}`,
    details,
  );
}
