import { fireEvent, screen, waitFor } from '@testing-library/react';
import { AppError, type McpServer } from '@belay/protocol';
import { renderWeb } from '@/testing/render-web';
import { McpForm } from './mcp-form';

const saved: McpServer = {
  name: 'github',
  transport: {
    type: 'http',
    url: 'https://mcp.example/mcp',
    headers: ['Authorization', 'X-Team'],
  },
  enabled: true,
  tools: null,
  state: 'connected',
  error: null,
  offered: [],
};

const onSaved = jest.fn();
const onCancel = jest.fn();
beforeEach(() => jest.clearAllMocks());

const show = (server: McpServer | null) =>
  renderWeb(<McpForm server={server} onSaved={onSaved} onCancel={onCancel} />, {
    replies: { mcp: { create: () => saved, change: () => saved } },
  });
const click = async (name: string | RegExp) =>
  fireEvent.click(await screen.findByRole('button', { name }));
const write = async (label: string | RegExp, value: string) =>
  fireEvent.change(await screen.findByLabelText(label), { target: { value } });

describe('the form for a new MCP server', () => {
  it('sends the URL and headers, and masks header values', async () => {
    const { rest } = await show(null);
    await write(/^Name/, 'github');
    await write(/^URL/, ' https://mcp.example/mcp ');
    await click('Add a header');
    await write('Name of the header', 'Authorization');
    await write('Value of Authorization', 'Bearer secret');
    expect(screen.getByLabelText('Value of Authorization')).toMatchObject({
      type: 'password',
      autocomplete: 'off',
    });
    await click('Save and connect');
    await waitFor(() => expect(onSaved).toHaveBeenCalledWith(saved));
    expect(rest.bodiesOf('mcp.create')).toEqual([
      {
        name: 'github',
        transport: {
          type: 'http',
          url: 'https://mcp.example/mcp',
          headers: { Authorization: 'Bearer secret' },
        },
      },
    ]);
  });

  it('runs a program in a container, warns about one on the host, and splits arguments by line', async () => {
    const { rest } = await show(null);
    fireEvent.click(await screen.findByRole('radio', { name: 'A program on the server' }));
    await screen.findByText(/It can reach only the hosts/);
    screen.getByRole('radio', { name: 'In a container', checked: true });
    await write(/^Image/, ' mcp/files ');
    await write(/^Hosts/, 'api.example, *.example.org');
    expect(screen.queryByText(/outside any sandbox/)).toBeNull();
    fireEvent.click(screen.getByRole('radio', { name: 'On this machine' }));
    await screen.findByText(/outside any sandbox/);
    fireEvent.click(screen.getByRole('radio', { name: 'In a container' }));
    await write(/^Name/, 'files');
    await write('Command', 'npx');
    await write(/^Arguments/, '-y\n\n@mcp/files --all\n');
    await click('Add a variable');
    await write('Name of the variable', 'TOKEN');
    await write('Value of TOKEN', 'x');
    await click('Save and connect');
    await waitFor(() =>
      expect(rest.bodiesOf('mcp.create')).toEqual([
        {
          name: 'files',
          transport: {
            type: 'stdio',
            command: 'npx',
            args: ['-y', '@mcp/files --all'],
            env: { TOKEN: 'x' },
            host: false,
            image: 'mcp/files',
            folder: null,
            hosts: ['api.example', '*.example.org'],
          },
        },
      ]),
    );
  });

  it.each([
    ['a name that is invalid for tools', 'Git Hub', 'https://mcp.example/mcp'],
    ['an invalid URL', 'github', 'mcp.example'],
    ['no URL', 'github', ''],
  ])('sends nothing with %s', async (_, name, url) => {
    const { rest } = await show(null);
    await write(/^Name/, name);
    await write(/^URL/, url);
    await click('Save and connect');
    expect(screen.getByRole('form', { name: 'New MCP server' }).matches(':invalid')).toBe(true);
    expect(rest.sentTo('mcp.create')).toEqual([]);
  });

  it('shows why the server refused it and can be submitted again', async () => {
    await renderWeb(<McpForm server={null} onSaved={onSaved} onCancel={onCancel} />, {
      replies: {
        mcp: {
          create: () => {
            throw new AppError('conflict', 'There is an MCP server github. Choose another name.');
          },
        },
      },
    });
    await write(/^Name/, 'github');
    await write(/^URL/, 'https://mcp.example/mcp');
    await click('Save and connect');
    await screen.findByText('There is an MCP server github. Choose another name.');
    expect(screen.getByRole('button', { name: 'Save and connect' })).toHaveProperty(
      'disabled',
      false,
    );
    expect(onSaved).not.toHaveBeenCalled();
  });
});

describe('the form for a saved MCP server', () => {
  it('keeps unchanged values and sends replaced ones', async () => {
    const { rest } = await show(saved);
    await write('Value of Authorization', 'Bearer new');
    expect(screen.getByLabelText('Value of X-Team')).toHaveProperty('value', '');
    await click('Save and connect');
    await waitFor(() =>
      expect(rest.sentTo('mcp.change')).toEqual([
        {
          params: { name: 'github' },
          query: {},
          body: {
            transport: {
              type: 'http',
              url: 'https://mcp.example/mcp',
              headers: { Authorization: 'Bearer new', 'X-Team': null },
            },
          },
        },
      ]),
    );
  });

  it('removes a header', async () => {
    const { rest } = await show(saved);
    await click('Remove Authorization');
    await click('Save and connect');
    await waitFor(() =>
      expect(rest.bodiesOf('mcp.change')).toMatchObject([
        { transport: { headers: { 'X-Team': null } } },
      ]),
    );
    expect(JSON.stringify(rest.bodiesOf('mcp.change'))).not.toContain('Authorization');
  });

  it('sends nothing when the user cancels', async () => {
    const { rest } = await show(saved);
    await write('Value of Authorization', 'Bearer new');
    await click('Cancel');
    expect(onCancel).toHaveBeenCalled();
    expect(rest.sentTo('mcp.change')).toEqual([]);
  });
});
