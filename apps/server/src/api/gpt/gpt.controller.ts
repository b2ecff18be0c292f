import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Req, Res } from '@nestjs/common';
import {
  AppError,
  essentialOperations,
  gptAnswerSeconds,
  gptPageCharacters,
  gptRoutes,
  operationOfTool,
  sessionCommands,
  type GptRun,
  type GptSession,
  type OperationOutput,
  type RouteResult,
} from '@belay/protocol';
import type { Request, Response } from 'express';
import { EventFeed } from '../../sessions/feed/event-feed.js';
import { SessionFiles } from '../../sessions/session-files.js';
import { callerOf } from '../auth/access.guard.js';
import { SessionCommands } from '../commands/session-commands.js';
import { abortedOnClose } from '../rest/aborted-on-close.js';
import { RestController, type RouteInputs } from '../rest/rest-controller.js';
import { GptCalls } from './gpt-calls.js';
import { answerOf, GptRuns } from './gpt-runs.js';
import { gptSessionOf, GptSessions, pageOfEvents } from './gpt-sessions.js';
import { uploadedFile } from './uploaded-file.js';

type Inputs = RouteInputs<typeof gptRoutes>;
type Results = { [Name in keyof typeof gptRoutes]: RouteResult<(typeof gptRoutes)[Name]> };

/** The terminal for the commands of a GPT, separate from the agent’s own terminals. */
const terminal = 'gpt';

/** The API for custom GPTs: see docs/chatgpt.md. */
@RestController(gptRoutes)
export class GptController {
  constructor(
    private readonly targets: GptSessions,
    private readonly calls: GptCalls,
    private readonly commands: SessionCommands,
    private readonly files: SessionFiles,
    private readonly feed: EventFeed,
    private readonly runs: GptRuns,
  ) {}

  useAgent({ params }: Inputs['useAgent'], @Req() request: Request): Promise<GptSession> {
    return this.targets.bind(request, params.agent_id);
  }

  /** Without an offset, a file that is too large for one response is refused: half a file would pass for the whole. */
  async getFile(
    { query: { filename, from, session } }: Inputs['getFile'],
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const id = await this.targets.sessionFor(request, session);
    const caller = callerOf(request);
    const { signal, inTime } = late(response);
    await inTime(async () => {
      const call = { name: 'files.read', input: { path: filename }, caller };
      await this.calls.allow(id, call, signal);
      const opened = await this.files.open(id, filename, { caller, signal });
      const { size } = opened;
      const end = Math.min((from ?? 0) + gptPageCharacters, size);
      if ((from === undefined && end < size) || (from ?? 0) > size) {
        const sentence = `The file has ${size} bytes. Get it in parts, with from=0, from=${gptPageCharacters} and so on.`;
        throw new AppError('too_large', sentence);
      }
      response.attachment(filename.split('/').at(-1)).type(gptRoutes.getFile.response.bytes);
      await pipeline(Readable.from(opened.bytes(from ?? 0, end)), response);
    });
  }

  async sendFile(
    { query }: Inputs['sendFile'],
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<OperationOutput<'files.write'>> {
    const id = await this.targets.sessionFor(request, query.session);
    const { name: path, content } = await uploadedFile(request);
    const { signal, inTime } = late(response);
    const input = {
      path,
      content: content.toString('base64'),
      encoding: 'base64',
      overwrite: true,
    };
    const call = { name: 'files.write', input, caller: callerOf(request) } as const;
    return inTime(() => this.calls.call(id, call, signal));
  }

  async execcmd(
    { query: { cmd, timeout, session } }: Inputs['execcmd'],
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<Results['execcmd']> {
    const id = await this.targets.sessionFor(request, session);
    const { signal, inTime } = late(response);
    const input = { command: cmd, terminal, timeout, wait: timeout + 3 };
    const call = { name: 'terminal.run', input, caller: callerOf(request) } as const;
    const { status, text, exitCode, directory } = await inTime(() =>
      this.calls.call(id, call, signal),
    );
    if (status !== 'exited' && status !== 'interrupted') {
      const printed = `It printed:\n${text.slice(-2_000)}`;
      throw new AppError('timeout', `The command was killed after ${timeout} s. ${printed}`);
    }
    return { output: text, exitCode, directory };
  }

  sessions(_: unknown, @Req() request: Request): Promise<GptSession[]> {
    return this.targets.list(callerOf(request));
  }

  startSession({ body }: Inputs['startSession'], @Req() request: Request): Promise<GptSession> {
    return this.targets.start(request, body);
  }

  async session({ query }: Inputs['session'], @Req() request: Request): Promise<GptSession> {
    return this.targets.get(await this.targets.sessionFor(request, query.session));
  }

  async events(
    { query: { session, after, wait } }: Inputs['events'],
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<Results['events']> {
    const id = await this.targets.sessionFor(request, session);
    const asked = { after, limit: 200, waitMs: wait * 1_000 };
    const events = await this.feed.next(id, asked, abortedOnClose(response));
    return pageOfEvents(events, after, gptPageCharacters);
  }

  async message({ query, body }: Inputs['message'], @Req() request: Request): Promise<GptSession> {
    const id = await this.targets.sessionFor(request, query.session, 'operate');
    const input = sessionCommands.message.input.parse({ ...body, session: id });
    return gptSessionOf(await this.commands.run('message', input, { caller: callerOf(request) }));
  }

  async stop({ query }: Inputs['stop'], @Req() request: Request): Promise<GptSession> {
    const id = await this.targets.sessionFor(request, query.session, 'operate');
    const caller = callerOf(request);
    return gptSessionOf(await this.commands.run('stop', { session: id }, { caller }));
  }

  async run({ params, query }: Inputs['run'], @Req() request: Request): Promise<GptRun> {
    const { wait: seconds, from } = query;
    return answerOf(await this.runs.find(callerOf(request), params.run), { seconds, from });
  }

  async call({ params, query, body }: Inputs['call'], @Req() request: Request): Promise<GptRun> {
    const caller = callerOf(request);
    const operation = operationOfTool(params.name);
    if (!operation || !essentialOperations.includes(operation)) {
      throw new AppError('not_found', `There is no operation ${params.name} on the short list.`);
    }
    const id = await this.targets.sessionFor(request, query.session);
    const call = { name: operation.name, input: body === undefined ? {} : body, caller };
    const run = this.runs.begin(caller, (began, signal) =>
      this.calls.call(id, { ...call, onAsking: (asking) => (began.asking = asking) }, signal),
    );
    return answerOf(run, { seconds: gptAnswerSeconds - 3 });
  }
}

/** For work without a run: cancelled when the response’s time is over. */
function late(response: Response) {
  const time = AbortSignal.timeout(gptAnswerSeconds * 1_000);
  const signal = AbortSignal.any([time, abortedOnClose(response)]);
  const inTime = <T>(work: () => Promise<T>): Promise<T> =>
    work().catch((error: unknown) => {
      if (!time.aborted) throw error;
      throw new AppError(
        'timeout',
        `There was no response within ${gptAnswerSeconds} s. ${ifAsked}`,
      );
    });
  return { signal, inTime };
}

const ifAsked =
  'If the call waits for the user, call again, or call terminal_run, which answers `asking` with a run to ask for later.';
