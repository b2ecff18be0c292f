export const fixIssueJob = `# Set the label belay on an issue, or comment /belay fix: the fix comes as a draft pull request.
name: fix-issue
description: Fixes an issue, with a test that fails without the fix, as a draft pull request.
on:
  host: github.com
  repository: OWNER/NAME
  event: [issue.labelled, issue.command]
  label: belay
  command: fix
run:
  budgets: { dollars: 3, seconds: 3600 }
  # Add the command of your tests. It runs in a fresh sandbox and decides whether the change works.
  # check: npm test
  task: |
    Fix the issue below.
    1. Reproduce it: write a test that fails for the reason that the issue gives. Run it, and see it fail for that
       reason. Name its command, its file and the text of its failure as the reproduction of your report.
    2. Fix the cause with the smallest change that is whole. Do not weaken tests, and change nothing else.
    3. Run the test again, and all others of the part that you changed.
    If you cannot reproduce it after honest tries, change nothing: say what you tried and what is missing.
    Report at the end: what was wrong, what you changed, and what you did not check.
lane:
  attempts: 3
  dollarsPerMonth: 60
out:
  pullRequest: {}
  comment: {}
  reaction: true
  # So that the label can be set again.
  labels: { remove: [belay] }
proof:
  reproduction: required
  # What tests need and the image does not have is made with a network, before they are run again without one.
  # setup: { command: npm ci, hosts: ['@npm'], paths: [node_modules] }
`;
