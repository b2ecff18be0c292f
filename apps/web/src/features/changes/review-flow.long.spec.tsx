import './review-flow.spec';
