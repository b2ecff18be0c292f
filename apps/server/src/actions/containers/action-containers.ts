import { randomBytes } from 'node:crypto';
import { BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import {
  ContainerHost,
  labels,
  type ProgramSpec,
  type ServiceSpec,
  type ProgramServices,
  type RunningProgram,
} from '@belay/containers';
import { AppError, errorFrom, type ProgramStart } from '@belay/protocol';
import { Config } from '../../config.js';
import { EgressService } from '../../egress/egress.service.js';
import { EventLog } from '../../logs/event-log.js';
import { ContainedPrograms } from '../../programs/contained-programs.js';
import type { ActionRun } from './action-run.js';
import { SessionWorkspaces, type SessionWorkspace } from './session-workspaces.js';
import { WarmActions } from './warm-actions.js';

/** The memory of a service; an action declares its own. */
const serviceMemoryMb = 512;
const maxCpus = 2;
const programUser = 1000;
/** The folder in which an action leaves files, and its size. */
const outputFolder = '/output';
const outputMb = 64;

/** The workspace that a call sees, and the user that it runs as: the owner of the workspace. */
interface CallPlace {
  user: number;
  workspace: ProgramSpec['workspace'];
}

/** Starts calls of actions, each in its own containers. */
@Injectable()
export class ActionContainers implements BeforeApplicationShutdown {
  readonly #warm: WarmActions;

  constructor(
    private readonly config: Config,
    private readonly host: ContainerHost,
    private readonly programs: ContainedPrograms,
    private readonly egress: EgressService,
    private readonly workspaces: SessionWorkspaces,
    private readonly log: EventLog,
  ) {
    this.#warm = new WarmActions({
      open: async (run, signal) =>
        programs.open(await this.#spec(run, await this.#placeOf(run)), this.#services(run), signal),
      start: startOf,
    });
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.#warm.close();
  }

  /** Throws a sentence as an `AppError`; when `signal` aborts, its reason. */
  async start(run: ActionRun, signal: AbortSignal): Promise<RunningProgram> {
    assertOwnPorts(run);
    const place = await this.#placeOf(run);
    const workspace = this.#staysWith(run, place);
    const kept = workspace && (await this.#warm.start(run, workspace, signal));
    return kept ?? this.#startOwn(run, place, signal);
  }

  /**
   * The workspace whose sandbox determines how long the container is kept; undefined for a container that is removed
   * with the call. For root, a starter would not be out of reach of its programs.
   */
  #staysWith({ session, program }: ActionRun, { user }: CallPlace): SessionWorkspace | undefined {
    const isKept =
      program.permissions.warm_seconds > 0 && Object.keys(program.services).length === 0;
    if (!isKept || session === null || user === 0) return undefined;
    return this.workspaces.get(session);
  }

  async #startOwn(run: ActionRun, place: CallPlace, signal: AbortSignal): Promise<RunningProgram> {
    await this.#fetchImages(run, signal);
    const begun = this.programs.run(await this.#spec(run, place), {
      start: startOf(run),
      services: this.#services(run),
      signal,
    });
    const running = await begun.catch((error: unknown) => {
      throw errorFrom(error).code === 'limit_reached' ? this.#wroteTooMuch(run) : error;
    });
    const ended = running.ended.then((end) => {
      if (end.wroteTooMuch) run.fail(this.#wroteTooMuch(run));
      return end;
    });
    return { ...running, ended };
  }

  async #fetchImages({ program, onPulled }: ActionRun, signal: AbortSignal): Promise<void> {
    for (const { image: name } of Object.values(program.services)) {
      signal.throwIfAborted();
      if (!(await this.host.images.fetch(name))) continue;
      const id = await this.host.images.id(name);
      if (id !== undefined) await onPulled({ name, id });
    }
  }

  /** Connections to declared hosts, and the files that the program leaves. */
  #services({ name, session, program, onRefused, takeFiles }: ActionRun): ProgramServices {
    const { network: hosts } = program.permissions;
    const origin = { name: `The action ${name}`, session, hosts, refused: onRefused };
    return { connect: (target) => this.egress.connectProgram(origin, target), takeFiles };
  }

  async #spec(run: ActionRun, { user, workspace }: CallPlace): Promise<ProgramSpec> {
    const { name, program } = run;
    const { memory_mb: memoryMb, workspace: declared } = program.permissions;
    const halfMb = Math.max(16, Math.floor(memoryMb / 2));
    const cpus = Math.min(maxCpus, this.config.cpus);
    const isEmpty = declared !== 'none' && workspace === null;
    return {
      id: randomBytes(6).toString('hex'),
      label: `action-${name}-${randomBytes(3).toString('hex')}`,
      labels: { [labels.action]: name },
      image: program.image,
      rights: 'program',
      user,
      limits: { memoryMb, cpus },
      scratch: [
        { path: '/tmp', mb: halfMb },
        { path: outputFolder, mb: Math.min(outputMb, halfMb) },
        ...(isEmpty ? [{ path: '/workspace', mb: halfMb, readOnly: declared === 'read' }] : []),
      ],
      workspace,
      folders: [],
      services: Object.entries(program.services).map(
        ([service, { image, command, environment }]): ServiceSpec => ({
          name: service,
          image,
          command,
          env: environment,
          limits: { memoryMb: serviceMemoryMb, cpus },
        }),
      ),
      archive: null,
      writtenMb: this.config.actionImageMb,
    };
  }

  /**
   * The session’s workspace, with the user that its programs run as; an empty one for a call without a session. Throws
   * when the action declares a workspace and the session’s is not on this machine.
   */
  async #placeOf({ name, session, program }: ActionRun): Promise<CallPlace> {
    const { workspace } = program.permissions;
    if (workspace === 'none' || session === null) return { user: programUser, workspace: null };
    const found = this.workspaces.get(session);
    const without = (why: string): AppError =>
      new AppError('conflict', `The action ${name} needs a workspace: ${why}.`);
    if (!found) throw without('the session has no sandbox now, so restart it');
    if (found.machine !== undefined) throw without('that of this session is on a joined machine');
    const { sandbox: profile } = await this.log.settings(session);
    return {
      user: profile === 'root' ? 0 : programUser,
      workspace: { files: found.files, readOnly: workspace === 'read' },
    };
  }

  #wroteTooMuch({ name }: ActionRun): AppError {
    return new AppError(
      'tool_failed',
      `A service of the action ${name} wrote more than ${this.config.actionImageMb} MiB and was stopped (BELAY_ACTION_IMAGE_MB).`,
    );
  }
}

function assertOwnPorts({ name, program }: ActionRun): void {
  const taken = new Map<number, string>();
  for (const [called, { port }] of Object.entries(program.services)) {
    const other = taken.get(port);
    if (other !== undefined)
      throw new AppError(
        'invalid_input',
        `The services ${other} and ${called} of the action ${name} have the same port.`,
      );
    taken.set(port, called);
  }
}

function startOf({ program, args, secrets }: ActionRun): ProgramStart {
  const [command = '', ...more] = program.command;
  const ports = Object.entries(program.services).map(([called, { port }]) => [called, port]);
  return {
    command: [command, ...more, ...args],
    folder: program.permissions.workspace === 'none' ? '/action' : '/workspace',
    env: { HOME: '/tmp', ...secrets },
    egress: program.permissions.network.length > 0,
    services: Object.fromEntries(ports) as Record<string, number>,
    output: outputFolder,
  };
}
