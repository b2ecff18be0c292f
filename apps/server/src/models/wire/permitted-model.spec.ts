import { sessionSettings, type SessionSettingsInput } from '@belay/protocol';
import { permittedModel, permittedProvider } from './permitted-model.js';

const settings = (more: Partial<SessionSettingsInput>) =>
  sessionSettings.parse({ task: 'Fix', model: 'anthropic:claude-opus-5', ...more });
const agent = {
  name: 'claude-code',
  version: '2.1.330',
  protocol: 'acp',
  small: 'anthropic:claude-haiku-4-5?price=1/2',
} as const;

describe('the models that programs may call', () => {
  it('are those of the session and of its agent, dated ones, too', () => {
    const open = settings({ agent });
    expect(permittedProvider(open, 'messages')).toBe('anthropic');
    const name = (requested: string) => permittedModel(open, 'anthropic', requested).name;
    expect(name('claude-opus-5')).toBe('anthropic:claude-opus-5');
    expect(name('claude-opus-5-20260101')).toBe('anthropic:claude-opus-5');
    expect(name('claude-haiku-4-5-latest')).toBe('anthropic:claude-haiku-4-5?price=1/2');
    for (const other of ['claude-opus-4', 'claude-opus-5-fast', '', 'anthropic:claude-opus-5'])
      expect(() => name(other)).toThrow(
        'is not open in this session; open are claude-opus-5, claude-haiku-4-5.',
      );
  });

  it('are of a provider that speaks the format', () => {
    expect(() => permittedProvider(settings({ agent }), 'chat')).toThrow(
      'use /anthropic/v1/messages',
    );
    const openai = settings({ agent, model: 'openai:gpt-5' });
    expect(['responses', 'chat'].map((one) => permittedProvider(openai, one as 'chat'))).toEqual([
      'openai',
      'openai',
    ]);
    expect(permittedProvider(settings({ agent, model: 'ollama:qwen' }), 'chat')).toBe('ollama');
    const played = settings({ agent, model: 'scripted:a.yaml' });
    expect(() => permittedProvider(played, 'chat')).toThrow('plays a script');
  });

  it('are none in a session of Belay’s own agent, unless it allows them', () => {
    expect(() => permittedProvider(settings({}), 'messages')).toThrow('may not call its model');
    const own = settings({ agent: { name: 'belay', version: '', protocol: 'own' } });
    expect(() => permittedProvider(own, 'messages')).toThrow('may not call its model');
    expect(permittedProvider(settings({ modelForPrograms: true }), 'messages')).toBe('anthropic');
  });
});
