import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./sandbox.service.spec.js'));
