export const dependenciesJob = `# One group of packages a week. Packages are fetched from registries alone.
name: dependencies
description: Updates one group of dependencies, and names breaking changes.
on:
  schedule: 0 4 * * 1
  zone: UTC
  repository: https://github.com/OWNER/NAME
run:
  egress: { profile: packages }
  budgets: { dollars: 3, seconds: 3600 }
  # check: npm test
  task: |
    Update the dependencies of this repository, one group of packages that belong together: the group that is most
    outdated, those with known faults of security first. Leave the others for the next time.
    1. Read the change logs between both versions, and name every breaking change that touches this code.
    2. Update the manifest and the lock file, and adapt the code.
    3. Run the build and the tests. If they fail for a reason that you cannot fix, change nothing and say why.
    Report at the end: package, old and new version, breaking changes with where they were handled, what was not run.
lane:
  busy: skip
  dollarsPerMonth: 20
out:
  pullRequest: { branch: 'belay/dependencies-{salt}' }
proof:
  reproduction: none
`;
