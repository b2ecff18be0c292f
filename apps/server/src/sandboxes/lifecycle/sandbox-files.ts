import { Injectable } from '@nestjs/common';
import {
  excerpt,
  ignoreError,
  isEvent,
  newEvent,
  oneLine,
  pluralText,
  visibleText,
  type Event,
  type StartPayload,
} from '@belay/protocol';
import { stateMessage } from '../../logs/consequences.js';
import { EventLog } from '../../logs/event-log.js';
import { SessionsStore } from '../../logs/sessions.store.js';
import { AgentCalls, type OpenTar } from '../connection/agent-calls.js';
import { RestoredCopies } from '../connection/restored-copies.js';
import { SandboxContainers } from './sandbox-containers.js';
import { SandboxRecords, type SandboxRecord } from './sandbox-records.store.js';
import type { Sandbox } from './sandbox.js';

export interface FoundFiles {
  /** The next sandbox goes on with these. */
  kept?: SandboxRecord | undefined;
  /**
   * Those on another machine or a lost node, which are of no use once the next sandbox has begun. Until then they are the
   * only ones that are complete, and their machine may be back.
   */
  left?: SandboxRecord | undefined;
}

/** The files of sessions’ sandboxes: where they are, and where those of a new sandbox come from. */
@Injectable()
export class SandboxFiles {
  constructor(
    private readonly records: SandboxRecords,
    private readonly containers: SandboxContainers,
    private readonly calls: AgentCalls,
    private readonly copies: RestoredCopies,
    private readonly log: EventLog,
    private readonly store: SessionsStore,
  ) {}

  /**
   * The files of an earlier sandbox, for one on this machine. Those of a start that failed halfway are removed.
   */
  async find(session: string, machine: string | undefined): Promise<FoundFiles> {
    const record = await this.records.find(session);
    if (!record) return {};
    const { before, ...own } = record;
    if (before && record.begun) await this.#removeLeft(before);
    if (!record.begun) {
      await this.containers.removeFiles(record);
      return {};
    }
    const isHere = record.machine === machine && (await this.containers.hasFiles(record));
    return isHere ? { kept: record } : { left: own };
  }

  /** The machine with the files of an earlier sandbox, by id; null for the server, undefined when there are none. */
  async at(session: string): Promise<string | null | undefined> {
    const record = await this.records.find(session);
    return record?.begun ? (record.machine ?? null) : undefined;
  }

  /** Removes what a session has left on another machine or a lost node, once its next sandbox has begun. Rejects if it cannot be recorded. */
  async forgetLeft(sandbox: Sandbox, session: string): Promise<void> {
    const { before } = (await this.records.find(session)) ?? {};
    if (before) await this.#removeLeft(before);
    const now = await this.records.find(session);
    if (now?.sandbox === sandbox.id) await this.records.write({ ...now, before: undefined });
  }

  async #removeLeft(record: SandboxRecord): Promise<void> {
    await this.containers
      .removeFiles(record)
      .catch(ignoreError('files in no record are removed once the host responds'));
  }

  /**
   * Records that the session has this sandbox, whose files are worth keeping from now on; those that it had `before` on
   * another machine or a lost node are removed next.
   */
  async record(
    sandbox: Sandbox,
    session: string,
    before: SandboxRecord | undefined,
  ): Promise<void> {
    const { id, files, epoch, agent, machine, token } = sandbox;
    await this.records.write({
      session,
      sandbox: id,
      files,
      epoch,
      agent,
      machine,
      token,
      running: machine !== undefined,
      begun: true,
      before,
    });
  }

  /**
   * Fills the empty workspace of a new sandbox: with the copy of the last step, or with the session’s first files. Returns
   * the start payload, whose log then says what was put back.
   */
  async fill(
    sandbox: Sandbox,
    startPayload: StartPayload,
    openTar: OpenTar | undefined,
  ): Promise<StartPayload> {
    const { session, events } = startPayload;
    const found = await sandbox.alive(this.copies.restore(sandbox, session));
    if (!found && openTar) await sandbox.alive(this.calls.importWorkspace(sandbox, openTar));
    if (!found && !hasWorked(events)) return startPayload;
    await this.#tell(session, found ?? { commit: null, without: [] });
    const later = await this.log.read(session, { after: events.at(-1)?.seq ?? 0 });
    return { ...startPayload, events: [...events, ...later] };
  }

  /** The start failed: the session has the files that it had before. */
  async giveUp(session: string, kept: SandboxRecord | undefined): Promise<void> {
    if (kept) await this.records.write(kept);
    else await this.records.remove(session);
  }

  async remove(session: string): Promise<void> {
    const record = await this.records.find(session);
    for (const one of [record, record?.before]) if (one) await this.containers.removeFiles(one);
    await this.records.remove(session);
    await this.copies.remove(session);
  }

  /** Records that its agent was ended, so that a later server does not wait for one on a machine. */
  async recordEnd({ session, machine }: Sandbox): Promise<void> {
    const record = session === null ? undefined : await this.records.find(session);
    if (record && machine !== undefined)
      await this.records.write({ ...record, token: undefined, running: false });
  }

  /** Tells the user of a stopped session what is left of its files; `uncopied` is why there is no copy of its last steps. */
  async tellGone(session: string, uncopied: string | null): Promise<void> {
    await this.log.append(session, ({ state, reason }) => {
      if (state !== 'stopped') return [];
      const left =
        uncopied === null
          ? 'The server has a copy of its steps'
          : `The server may not have a copy of its last steps (${uncopied.replace(/\.$/, '')})`;
      const gone = `${left}; with its pod went ${notCopied.join(', and ')}.`;
      const args = { state, reason: reason ? `${reason} ${gone}` : gone };
      return [newEvent('server', 'state', { args, message: stateMessage(args) })];
    });
  }

  /** Tells user and model what was put back, and what was not. */
  async #tell(
    session: string,
    { commit, without }: { commit: string | null; without: readonly string[] },
  ): Promise<void> {
    const { step, later } = await this.#place(session, commit);
    const lost = [
      ...(later > 0 ? [`the changes of ${pluralText(later, 'later step')}`] : []),
      // Names of files, as the sandbox says.
      ...without.map((one) => excerpt(visibleText(oneLine(one)), maxName)),
      ...notCopied,
    ];
    const source =
      commit === null
        ? 'there was no copy, so the workspace is as the session began'
        : `the workspace was put back from the server’s copy of step ${commit.slice(0, 7)}`;
    const message = `The sandbox and its files were gone: ${source}, without ${lost.join('; ')}.`;
    const args = { commit, step, without: lost };
    await this.log.append(session, [newEvent('server', 'restored', { args, message })]);
  }

  /** The event that recorded a commit, and how many steps came after it. */
  async #place(
    session: string,
    commit: string | null,
  ): Promise<{ step: number | null; later: number }> {
    let later = 0;
    for (let before: number | undefined; later < mostLater; later++) {
      const event = await this.store.latest(session, 'commit', before);
      if (!event || !isEvent(event, 'commit')) break;
      if (event.args.commit === commit) return { step: event.seq, later };
      before = event.seq - 1;
    }
    return { step: null, later };
  }
}

/** The number of steps without a copy that are counted. */
const mostLater = 100;
const maxName = 300;

/** What no copy has; see “What is recorded” in docs/history.md. */
const notCopied = [
  'ignored files, such as node_modules, empty folders, and the .git of repositories below the top folder',
  'everything outside of the workspace, such as the home folder and installed packages',
];

/** Whether an agent has worked in this session, not only in the one that its log was copied from. */
function hasWorked(events: readonly Event[]): boolean {
  const begun = events.findLastIndex(({ action }) => action === 'fork' || action === 'imported');
  return events.slice(begun + 1).some((event) => isEvent(event, 'commit'));
}
