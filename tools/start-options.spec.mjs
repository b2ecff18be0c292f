import { parseStart } from './start-options.mjs';

describe('the options of npm start', () => {
  it('has defaults', () => {
    expect(parseStart([])).toEqual({
      port: 4600,
      data: undefined,
      open: true,
      install: true,
      help: false,
      dev: false,
      types: true,
    });
  });

  it('reads every option, with a space or an equals sign', () => {
    const wanted = { port: 5000, data: '/tmp/a=b', open: false, install: false };
    const flags = ['--no-open', '--no-install'];
    expect(parseStart(['--port', '5000', '--data', '/tmp/a=b', ...flags])).toMatchObject(wanted);
    expect(parseStart([...flags, '--port=5000', '--data=/tmp/a=b'])).toMatchObject(wanted);
  });

  it('takes the port of the environment when none is given', () => {
    expect(parseStart([], { BELAY_PORT: '0' }).port).toBe(0);
    expect(parseStart(['--port', '7'], { BELAY_PORT: 'http' }).port).toBe(7);
    expect(parseStart([], { BELAY_PORT: 'http' }).error).toMatch(/BELAY_PORT is http/);
  });

  it.each([{ npm_config_port: '5000' }, { npm_config_open: '' }])(
    'reports what npm kept for itself: %j',
    (env) => {
      expect(parseStart([], env).error).toMatch(/Put -- before the options/);
    },
  );

  it('takes those of npm run dev only with --dev', () => {
    const wanted = { dev: true, port: 5000, types: false, inspect: '--inspect=9230' };
    const flags = ['--inspect=9230', '--no-types', '--port', '5000'];
    expect(parseStart(['--dev', ...flags])).toMatchObject(wanted);
    expect(parseStart(['--dev', '--inspect'])).toMatchObject({ inspect: '--inspect', types: true });
    expect(parseStart(flags).error).toMatch(/no option --inspect/);
    expect(parseStart(['--dev', '--inspect=here']).error).toMatch(/--inspect takes a port/);
    expect(parseStart(['--dev', '--tunnel', 'ngrok']).error).toMatch(/does not take --tunnel/);
  });

  it.each([
    [['--prot', '1'], /no option --prot/],
    [['--port', 'http'], /--port needs a number/],
    [['--port'], /--port needs a number/],
    [['--port', '70000'], /--port needs a number/],
    [['--data'], /--data needs a folder/],
    [['demo'], /no option demo/],
  ])('rejects %j with one sentence', (args, sentence) => {
    const { error } = parseStart(args);
    expect(error).toMatch(sentence);
    expect(error).toMatch(/\.$/);
  });
});
