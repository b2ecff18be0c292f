import { parseStart } from './start-options.mjs';

describe('the options of npm start', () => {
  it('has defaults', () => {
    expect(parseStart([])).toEqual({
      port: undefined,
      data: undefined,
      open: true,
      install: true,
      help: false,
    });
  });

  it('reads every option, with a space or an equals sign', () => {
    const wanted = { port: 5000, data: '/tmp/a=b', open: false, install: false, help: false };
    const flags = ['--no-open', '--no-install'];
    expect(parseStart(['--port', '5000', '--data', '/tmp/a=b', ...flags])).toEqual(wanted);
    expect(parseStart([...flags, '--port=5000', '--data=/tmp/a=b'])).toEqual(wanted);
  });

  it.each([
    [['--prot', '1'], /no option --prot/],
    [['--port', 'http'], /--port needs a number/],
    [['--port'], /--port needs a number/],
    [['--port', '70000'], /--port needs a number/],
    [['--data'], /--data needs a folder/],
    [['demo'], /no option demo/],
  ])('answers %j with one sentence', (args, sentence) => {
    const { error } = parseStart(args);
    expect(error).toMatch(sentence);
    expect(error).toMatch(/\.$/);
  });
});
