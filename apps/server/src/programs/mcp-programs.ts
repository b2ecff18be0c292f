import { randomBytes } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { Injectable } from '@nestjs/common';
import {
  ContainerHost,
  labels,
  type ProgramSpec,
  type SharedFolder,
  type RunningProgram,
} from '@belay/containers';
import { AppError, type ProgramStart } from '@belay/protocol';
import { untilAborted } from '@belay/rpc';
import { Config } from '../config.js';
import { EgressService } from '../egress/egress.service.js';
import { ContainedPrograms } from './contained-programs.js';
import { programFolder } from './program-folder.js';
import { offlineVariables, type ContainedProgram, type ProgramRunner } from './program.js';

/** Long, because the image may have to be pulled first. */
const startTimeoutMs = 10 * 60_000;
const maxMemoryMb = 1024;
const maxCpus = 1;
const user = 1000;

/** Runs programs of MCP servers, each in a container of its own. */
@Injectable()
export class McpPrograms implements ProgramRunner {
  constructor(
    private readonly config: Config,
    private readonly host: ContainerHost,
    private readonly programs: ContainedPrograms,
    private readonly egress: EgressService,
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
      // If the container is created anyway, it is removed.
      return await untilAborted(limit, this.#start(program, limit));
    } finally {
      clearTimeout(timer);
    }
  }

  async #start(program: ContainedProgram, signal: AbortSignal): Promise<RunningProgram> {
    const { name, hosts } = program;
    const spec = await this.#spec(program);
    const origin = { name: `The MCP server ${name}`, session: null, hosts };
    signal.throwIfAborted();
    const running = await this.programs.run(spec, {
      start: startOf(program),
      services: { connect: (target) => this.egress.connectProgram(origin, target) },
      signal,
    });
    if (signal.aborted) await running.stop();
    signal.throwIfAborted();
    return running;
  }

  async #spec({ name, image, folder, installed }: ContainedProgram): Promise<ProgramSpec> {
    const memoryMb = installed?.memoryMb ?? Math.min(maxMemoryMb, this.config.memoryMb);
    return {
      id: randomBytes(6).toString('hex'),
      label: `mcp-${name}`,
      labels: installed ? { [labels.action]: name } : {},
      image: image ?? this.config.image,
      rights: 'program',
      user,
      limits: { memoryMb, cpus: Math.min(maxCpus, this.config.cpus) },
      scratch: [{ path: '/tmp', mb: Math.max(64, Math.floor(memoryMb / 2)) }],
      workspace: null,
      folders: folder === null ? [] : [await this.#shared(folder)],
      services: [],
      archive: null,
      writtenMb: 0,
    };
  }

  async #shared(folder: string): Promise<SharedFolder> {
    if (!this.host.can.folders)
      throw new AppError('invalid_input', `${this.host.name} cannot share folders: name none.`);
    const closed = [this.config.data, this.config.runtimeFolder, ...this.host.closedPaths];
    const { path, real } = await programFolder(folder, closed);
    const { dev: device, ino: inode } = await stat(real, { bigint: true });
    return { folder: real, path, readOnly: true, device, inode };
  }
}

function startOf({ command, args, env, folder, hosts, installed }: ContainedProgram): ProgramStart {
  const isOpen = hosts.length > 0;
  return {
    command: [command, ...args],
    folder: folder ?? (installed ? '/action' : '/tmp'),
    env: { HOME: '/tmp', ...(!isOpen && offlineVariables), ...env },
    egress: isOpen,
    services: {},
    output: null,
  };
}
