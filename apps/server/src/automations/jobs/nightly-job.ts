export const nightlyJob = `# Your own task, on working days at night.
name: nightly
description: Does a task of yours every night, and opens a draft pull request if it changed something.
on:
  schedule: 30 2 * * 1-5
  zone: UTC
  repository: https://github.com/OWNER/NAME
run:
  budgets: { dollars: 2, seconds: 3600 }
  # check: npm test
  task: |
    Write here what is to be done. For example: find one test that fails only sometimes, find out why, and fix it.
    If there is nothing to do, change nothing and say so.
    Report at the end: what you found, what you changed, and what you did not check.
lane:
  busy: skip
  dollarsPerMonth: 40
  stopWhenNoChange: false
out:
  pullRequest: { branch: 'belay/nightly-{salt}' }
proof:
  reproduction: none
`;
