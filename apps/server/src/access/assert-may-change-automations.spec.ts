import type { ApiName } from '@belay/protocol';
import { assertMayChangeAutomations } from './assert-may-change-automations.js';
import { ownerCaller, viewerCaller, type Caller } from './caller.js';

const over = (api: ApiName): Partial<Caller> => ({ via: { api, address: undefined } });
const user = { ...ownerCaller, id: 'user:1', label: 'Ada' };

describe('automations are changed', () => {
  it.each<[string, Partial<Caller>]>([
    ['the owner', ownerCaller],
    ['an admin’s login', { ...user, login: 'l', ...over('dashboard') }],
    ['a token of an admin', { ...user, id: 'token:1', user: 'user:1', ...over('cli') }],
    ['a token over REST', { ...user, id: 'token:1', ...over('rest') }],
  ])('by %s', (_, caller) => {
    expect(() => assertMayChangeAutomations({ ...ownerCaller, ...caller })).not.toThrow();
  });

  it.each<[string, Partial<Caller>]>([
    ['what an automation began', { id: 'automation:a' }],
    ['a token that an automation made', { id: 'token:1', user: 'automation:a' }],
    ['a model over MCP', over('mcp')],
    ['a GPT', over('gpt')],
    ['a token for some sessions', { sessions: new Set(['s']) }],
    ['a viewer', viewerCaller],
    ['a user who operates sessions', { ...user, scope: 'operate' }],
  ])('not by %s', (_, caller) => {
    expect(() => assertMayChangeAutomations({ ...ownerCaller, ...caller })).toThrow(
      expect.objectContaining({ code: 'forbidden' }),
    );
  });
});
