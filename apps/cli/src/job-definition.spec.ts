import { jobDefinition } from './job-definition.js';

const onEvents = '# name: no\nname: one\non:\n  host: github.com\n  repository: OWNER/NAME\n';
const onTimes =
  'name: two\non:\n  schedule: 0 4 * * 1\n  repository: https://github.com/OWNER/NAME\n';
const byHand = 'name: three\non: { hand: true }\n';
const jobs = [
  { name: 'one', description: '', text: onEvents },
  { name: 'two', description: '', text: onTimes },
  { name: 'three', description: '', text: byHand },
  { name: 'four', description: '', text: 'name: four\non: {host: github.com, repository: a/b}\n' },
];
const repository = 'git.internal:8443/team/sub/api';

describe('a job as a definition', () => {
  it.each([
    ['one', '# name: no\nname: one\non:\n  host: git.internal:8443\n  repository: team/sub/api\n'],
    [
      'two',
      'name: two\non:\n  schedule: 0 4 * * 1\n  repository: https://git.internal:8443/team/sub/api\n',
    ],
    ['four', 'name: four\non: {host: git.internal:8443, repository: team/sub/api}\n'],
  ])('%s is for the repository that is named', (job, text) => {
    expect(jobDefinition(jobs, { job, repository })).toEqual({ file: `${job}.yaml`, text });
  });

  it('has the name that is given', () => {
    const { text, file } = jobDefinition(jobs, { job: 'one', repository, name: 'mine' });
    expect([file, text.split('\n').slice(0, 2)]).toEqual([
      'mine.yaml',
      ['# name: no', 'name: mine'],
    ]);
  });

  it('takes a repository only if it works on one', () => {
    expect(jobDefinition(jobs, { job: 'three' }).text).toBe(byHand);
    expect(() => jobDefinition(jobs, { job: 'three', repository })).toThrow('Leave out');
    expect(() => jobDefinition(jobs, { job: 'two' })).toThrow('--repository');
    expect(() => jobDefinition(jobs, { job: 'one', repository: 'acme' })).toThrow(
      'HOST/REPOSITORY',
    );
  });
});
