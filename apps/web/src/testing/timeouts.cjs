const { configure } = require('@testing-library/react');

// What a page shows within a second may take ten where other tests use the processor.
configure({ asyncUtilTimeout: 10_000 });
jest.setTimeout(30_000);
