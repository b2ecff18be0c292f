import './panel-badge.spec';
