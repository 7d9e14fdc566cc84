create table first (id integer primary key)
