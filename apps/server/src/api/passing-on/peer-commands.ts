import { Logger } from '@nestjs/common';
import { AppError, faultOf } from '@belay/protocol';
import type { NextFunction, Request, Response } from 'express';
import { z } from 'zod';
import { introducedCaller } from '../../peers/introduced-caller.js';
import type { ColdChanges } from '../../storage/cold-changes.js';
import { lease } from '../../storage/lease.js';
import type { Identity } from '../auth/identity.js';
import { peerCommandsPath, type CommandLine } from '../commands/commands-elsewhere.js';
import type { SessionCommands } from '../commands/session-commands.js';
import { readJsonBody } from '../json-bodies.js';
import { sentError } from '../problem.js';
import { abortedOnClose } from '../rest/aborted-on-close.js';
import { knownCaller } from './known-caller.js';

/** More than the largest message of any API that passes commands on. */
const maxBytes = 16 * 2 ** 20;

const passedCommand = z.object({
  name: z.string(),
  input: z.unknown(),
  id: z.string().optional(),
  isAudited: z.boolean().optional(),
});

interface PeerCommandsOptions {
  identity: Identity;
  commands: SessionCommands;
  changes: ColdChanges;
}

/**
 * Carries out commands on this server’s sessions that other servers pass on, in the name of the caller whom they
 * introduced. To everyone else, the path does not exist. The answer is a `CommandLine` a line, as they come.
 */
export function peerCommands({ identity, commands, changes }: PeerCommandsOptions) {
  const logger = new Logger('Peers');
  return async (request: Request, response: Response, next: NextFunction): Promise<void> => {
    const introduced = introducedCaller(request.socket);
    if (!introduced || request.path !== peerCommandsPath || request.method !== 'POST')
      return next();
    const write = (line: CommandLine): unknown => response.write(`${JSON.stringify(line)}\n`);
    try {
      lease.assertHeld();
      changes.requireCurrent();
      const signal = abortedOnClose(response);
      const caller = await knownCaller(identity, request);
      const { name, input, id, isAudited = false } = parsed(await readJsonBody(request, maxBytes));
      const via = { api: introduced.api, address: request.socket.remoteAddress };
      response.status(200).type('application/x-ndjson').flushHeaders();
      const value = await commands.call(
        { ...caller, via },
        {
          name,
          input,
          ...(id !== undefined && { id }),
          signal,
          isPassedOn: true,
          isAudited,
          onEvent: (event) => write({ event }),
        },
      );
      write({ value });
    } catch (error) {
      if (response.destroyed) return;
      const known = sentError(error, logger);
      if (!response.headersSent) return next(known);
      write({ error: known.toJSON() });
    }
    response.end();
  };
}

function parsed(body: unknown): z.output<typeof passedCommand> {
  const { data, error } = passedCommand.safeParse(body);
  if (data) return data;
  throw new AppError('invalid_input', faultOf(error));
}
