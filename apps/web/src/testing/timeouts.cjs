const { configure } = require('@testing-library/react');

// What a page shows within a second may take much longer where other tests use the processor.
configure({ asyncUtilTimeout: 45_000 });
