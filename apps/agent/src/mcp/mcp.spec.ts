import { readFile, rm } from 'node:fs/promises';
import { actionOutput, sessionAction, type ApprovalRequest, type McpTool } from '@belay/protocol';
import { pause } from '@belay/testing';
import { Stage, type StageOptions } from '../testing/stage.js';

const echo: McpTool = {
  server: 'tools',
  name: 'echo',
  description: 'Repeats it.',
  inputSchema: { type: 'object' },
};
const call = { operation: 'mcp.tools.echo', input: { text: 'hi' } };

describe('a session with tools of an MCP server', () => {
  let stage: Stage;
  const play = (options: StageOptions) =>
    (stage = new Stage({ settings: { mcp: [echo] }, ...options }));
  afterEach(() => stage.close());

  it('offers them after the operations, and asks before the server runs what the log has', async () => {
    const asked: ApprovalRequest[] = [];
    const ran: unknown[] = [];
    play({
      turns: [{ calls: [call, { ...call, operation: 'mcp_tools_echo' }] }],
      approve: async (request) => (asked.push(request), { verdict: 'approved' }),
      mcp: async ({ id }) => {
        ran.push(stage.log.find((event) => event.id === id && event.action === 'mcp.tools.echo'));
        return { text: 'you said hi', images: ['a'.repeat(64)] };
      },
    });
    await stage.until(() => stage.results().length === 3);
    expect(stage.requests[0]?.operations.at(-1)).toBe('mcp.tools.echo');
    expect(asked).toMatchObject([
      { operation: 'mcp.tools.echo', risk: 'network', subject: '{"text":"hi"}' },
      { operation: 'mcp.tools.echo' },
    ]);
    expect(ran).toMatchObject([{ args: { text: 'hi' } }, { args: { text: 'hi' } }]);
    const results = stage.requests[1]?.messages.at(-1);
    expect(results).toMatchObject({
      results: [
        { output: { text: 'you said hi' }, failed: false, images: ['a'.repeat(64)] },
        { failed: false },
      ],
    });
    expect(stage.commits).toEqual([]);
  });

  it('asks for nothing that the log does not have yet, also where no approval is awaited', async () => {
    const permissions = sessionAction.shape.permissions.parse({ workspace: 'none' });
    const about = { name: 'notes', title: 'Notes', description: 'How.', inputSchema: {} };
    const skill = sessionAction.parse({ ...about, kind: 'skill', permissions, image: 'none' });
    const known: boolean[] = [];
    play({
      settings: { actions: [skill] },
      turns: [{ calls: [{ operation: 'action.notes', input: {} }] }],
      beforeAppend: () => pause(30, 'a database that takes its time'),
      action: async ({ id }) => {
        known.push(stage.log.some((event) => event.id === id));
        return actionOutput.parse({ text: 'hi', exitCode: 0, seconds: 0 });
      },
    });
    await stage.until(() => stage.results().length === 2);
    expect(known).toEqual([true]);
  });

  it('puts the whole of a long result into a file', async () => {
    const full = 'f'.repeat(64);
    play({
      turns: [{ calls: [call] }],
      mcp: async () => ({ text: 'x…x', omittedCharacters: 70_000, full }),
      blobs: { [full]: 'all of it' },
    });
    await stage.until(() => stage.results().length === 2);
    const { file } = stage.results()[0]!.args['output'] as { file: string };
    expect(await readFile(file, 'utf8')).toBe('all of it');
    await rm(file);
  });

  it('names to the model the tools that are there when one is not', async () => {
    play({ turns: [{ calls: [{ operation: 'mcp.tools.ecoh', input: {} }] }] });
    await stage.until(() => stage.results().length === 2);
    expect(stage.results()[0]).toMatchObject({
      args: { ok: false },
      message: expect.stringContaining(
        'There is no operation mcp.tools.ecoh; the nearest is mcp.tools.echo',
      ),
    });
  });
});
