import { Injectable } from '@nestjs/common';
import { DockerClient, labels, ownPrograms, programContainer } from '@belay/containers';
import { AppError } from '@belay/protocol';
import { untilAborted } from '@belay/rpc';
import { Config } from '../config.js';
import { EgressService } from '../egress/egress.service.js';
import { ownerLabels } from '../owner-labels.js';
import { startAttached } from './attached-container.js';
import { programFolder } from './program-folder.js';
import type { ProgramSocket } from './program-socket.js';
import { ProgramSockets } from './program-sockets.js';
import type { ContainedProgram, ProgramRunner, RunningProgram } from './program.js';

/** Long, because the image may have to be pulled first. */
const startTimeoutMs = 10 * 60_000;
const maxMemoryMb = 1024;
const maxCpus = 1;

/**
 * Runs programs of MCP servers, each in a container of its own. Those left by a killed server are removed at its next
 * start.
 */
@Injectable()
export class ProgramContainers implements ProgramRunner {
  constructor(
    private readonly config: Config,
    private readonly docker: DockerClient,
    private readonly egress: EgressService,
    private readonly sockets: ProgramSockets,
  ) {}

  async run(program: ContainedProgram, signal: AbortSignal): Promise<RunningProgram> {
    const late = new AbortController();
    const seconds = startTimeoutMs / 1_000;
    const timer = setTimeout(
      () => late.abort(new AppError('timeout', `Its container took more than ${seconds} s.`)),
      startTimeoutMs,
    ).unref();
    const limit = AbortSignal.any([signal, late.signal]);
    try {
      // If the container is created anyway, `#start` removes it.
      return await untilAborted(limit, this.#start(program, limit));
    } finally {
      clearTimeout(timer);
    }
  }

  async #start(program: ContainedProgram, signal: AbortSignal): Promise<RunningProgram> {
    const socket = program.hosts.length > 0 ? await this.#socketOf(program) : null;
    try {
      const spec = await this.#spec(program, socket);
      signal.throwIfAborted();
      const running = await startAttached(this.docker, spec, signal);
      void running.ended.then(() => socket?.close());
      return running;
    } catch (error) {
      await socket?.close();
      throw error;
    }
  }

  /** The socket for connections to its hosts. */
  #socketOf({ name, hosts }: ContainedProgram): Promise<ProgramSocket> {
    const origin = { name: `The MCP server ${name}`, session: null, hosts };
    return this.sockets.open({ connect: (target) => this.egress.connectProgram(origin, target) });
  }

  async #spec(program: ContainedProgram, socket: ProgramSocket | null) {
    const { name, command, args, env, image, folder, installed } = program;
    const closed = [this.config.data, this.config.runtimeFolder, this.docker.socket];
    return programContainer({
      name: `belay-mcp-${name}`,
      image: image ?? this.config.image,
      command,
      args,
      env,
      workingDir: installed ? '/action' : '/tmp',
      folder: folder === null ? null : await programFolder(folder, closed),
      connection: socket && { socketFolder: socket.folder, runtime: this.config.runtimeVolume },
      limits: {
        memoryMb: installed?.memoryMb ?? Math.min(maxMemoryMb, this.config.memoryMb),
        cpus: Math.min(maxCpus, this.config.cpus, await this.docker.cpus()),
      },
      labels: ownerLabels(this.config, {
        [labels.program]: ownPrograms,
        ...(installed && { [labels.action]: name }),
      }),
    });
  }
}
