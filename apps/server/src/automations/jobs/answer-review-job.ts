export const answerReviewJob = `# Answers reviews of pull requests that this server opened.
name: answer-review
description: Answers each thread of a review, by a change or with words.
on:
  host: github.com
  repository: OWNER/NAME
  event: [pull.reviewed, pull.commented, pull.command]
  command: answer
  where: branch startsWith 'belay/'
run:
  budgets: { dollars: 2, seconds: 1800 }
  # check: npm test
  task: |
    A review of this pull request has the threads below, each with its id.
    For each thread, either make the change that it asks for, or answer why not; where it is unclear, ask.
    Keep to what the threads are about, and run the tests of what you changed.
    Report at the end: one reply for each thread, by its id, that says what you did.
lane:
  key: 'pull:{number}'
  # Comments that follow each other are answered together.
  cooldown: 2m
  attempts: 10
  dollarsPerMonth: 40
out:
  push: { branch: same, only: belay/ }
  replies: {}
  comment: {}
  reaction: true
proof:
  reproduction: none
`;
